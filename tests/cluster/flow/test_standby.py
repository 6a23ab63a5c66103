"""Two spawned cabooses of one shard: one works, one stands by; the one that works is killed, or stopped and wakes."""

import random
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from tests.cluster.flow.flows import FLOWS
from tests.cluster.flow.yard import Yard
from tests.cluster.interceptor import Fault, Interceptor
from tests.parts.database import Database
from tests.parts.kubernetes import Cluster
from tests.waiting import until

PROMISED = 15.0
MANY = 60
LEASES = "/apis/coordination.k8s.io/v1/namespaces/{}/leases"


class Candidate:
    """One caboose, with its own way to the API server: what it asks for there is known."""

    def __init__(self, yard: Yard, way: Interceptor) -> None:
        self.yard, self.way = yard, way
        self.caboose = yard.caboose

    def holds(self) -> bool:
        return str(lease(self.yard).get("holderIdentity")).endswith(f"-{self.caboose.pid}")

    def wrote(self) -> list[tuple[str, str, int]]:
        """Everything that it asked the API server to change, but for the lease."""
        return [seen for seen in self.way.answers if seen[0] != "GET" and "/leases" not in seen[1]]

    def looked_at_the_lease(self) -> int:
        return sum(1 for method, path, _ in self.way.answers if method == "GET" and "/leases/" in path)


def lease(yard: Yard) -> dict[str, Any]:
    """What it says; nothing before the first candidate has made it."""
    items = yard.cluster.api.get(LEASES.format(yard.namespace))["items"]
    return dict(items[0]["spec"]) if items else {}


def taken_at(yard: Yard) -> float:
    return datetime.fromisoformat(lease(yard)["acquireTime"]).timestamp()


@pytest.fixture
def pair(
    kubernetes: Cluster, namespace: str, database: Database, tmp_path: Path
) -> Iterator[tuple[Candidate, Candidate]]:
    """The leader and its standby, both up, with the lease as long as it is by default."""
    with Interceptor(kubernetes) as one, Interceptor(kubernetes) as two:
        made = []
        for number, way in enumerate((one, two)):
            folder = tmp_path / str(number)
            folder.mkdir()
            through = way.kubeconfig(folder, kubernetes.admin_token)
            yard = Yard(
                *(database, kubernetes, namespace, folder, FLOWS),
                kubeconfig=through,
                store=(tmp_path / "store").as_uri(),
                lease={},
            )
            made.append(Candidate(yard, way))
        leader, standby = made
        try:
            leader.caboose.start()
            until(lambda: leader.looked_at_the_lease() and leader.holds(), 60)
            standby.caboose.start()
            until(standby.looked_at_the_lease, 60)
            yield leader, standby
        finally:
            for candidate in made:
                candidate.yard.close()


def finished(yard: Yard, uuids: list[UUID]) -> bool:
    threads = yard.ledger.threads()
    return all(threads[uuid][0] == "SUCCESSFUL" for uuid in uuids) and yard.in_cluster() == []


def judge(yard: Yard, uuids: list[UUID]) -> None:
    """Every end is in the log once, not even a second time in vain; every callback is there once; all is archived."""
    ends = yard.database.execute(
        "select action_uuid, count(*) from switchyard.event where status = 'SUCCESSFUL' group by 1"
    )
    assert dict(ends) == dict.fromkeys(uuids, 1)
    assert sorted(yard.ledger.callbacks()) == sorted((uuid, "done") for uuid in uuids)
    assert all(yard.archived(uuid)["metadata"]["name"] == str(uuid) for uuid in uuids)


def test_a_killed_leader_is_followed_within_15_seconds(pair: tuple[Candidate, Candidate]) -> None:
    leader, standby = pair
    before = [leader.yard.ended("good") for _ in range(5)]
    until(lambda: finished(leader.yard, before), 60)
    assert standby.wrote() == []
    died = time.time()
    leader.caboose.kill()
    after = [standby.yard.ended("good") for _ in range(5)]
    until(standby.holds, 4 * PROMISED)
    assert taken_at(standby.yard) - died < PROMISED
    until(lambda: finished(standby.yard, after), 60)
    judge(standby.yard, before + after)


def test_a_stopped_leader_that_wakes_up_writes_nothing_and_deletes_nothing(
    pair: tuple[Candidate, Candidate],
) -> None:
    leader, standby = pair
    # It has its hands full when it is stopped: archived, recorded, and its deletes on their way.
    leader.way.inject(Fault("DELETE", status=503, hang=600, times=1000))
    uuids = [leader.yard.ended("good") for _ in range(MANY)]
    until(lambda: leader.way.waiting > 0, 60)
    leader.caboose.pause()
    stopped = time.time()
    until(standby.holds, 4 * PROMISED)
    assert taken_at(standby.yard) - stopped < PROMISED
    # The locks that it held go with the worker that is lost; conductor says so, every few seconds.
    until(lambda: lost(leader.yard) == [("caboose", True)], 30)
    until(lambda: finished(standby.yard, uuids), 60)
    looked = leader.looked_at_the_lease()
    leader.way.clear()  # its deletes are refused, and nothing but the lease keeps it from trying again
    leader.caboose.resume()
    until(lambda: leader.looked_at_the_lease() > looked + 3, 60)
    assert leader.wrote() == []
    judge(leader.yard, uuids)
    standby.caboose.kill()
    more = [leader.yard.ended("good") for _ in range(3)]
    until(leader.holds, 4 * PROMISED)
    until(lambda: finished(leader.yard, more), 60)
    judge(leader.yard, uuids + more)


def test_stopped_anywhere_in_its_work_it_doubles_nothing(pair: tuple[Candidate, Candidate]) -> None:
    leader, standby = pair
    uuids = [leader.yard.ended("good") for _ in range(MANY)]
    until(lambda: len(leader.yard.in_cluster()) < MANY, 60)
    time.sleep(random.uniform(0, 0.2))  # not a wait for anything: the moment of the stop is the test
    leader.caboose.pause()
    until(standby.holds, 4 * PROMISED)
    lost(leader.yard)
    until(lambda: finished(standby.yard, uuids), 60)
    wrote, looked = leader.wrote(), leader.looked_at_the_lease()
    leader.caboose.resume()
    until(lambda: leader.looked_at_the_lease() > looked + 2, 60)
    assert leader.wrote() == wrote
    judge(leader.yard, uuids)


def lost(yard: Yard) -> list[tuple[Any, ...]]:
    return yard.database.execute(
        "select kind, terminated from (select array_agg(worker_id) as workers, array_agg(beat_at) as beats"
        " from switchyard.worker where beat_at < now() - interval '3 s') as silent,"
        " switchyard.mark_lost(silent.workers, silent.beats)"
    )
