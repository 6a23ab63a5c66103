"""Two spawned cabooses of one shard: one works, one stands by; the one that works is killed, or stopped and wakes."""

import random
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
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


LEADER = """
select w.pid from pg_locks l
join pg_stat_activity a on a.pid = l.pid
join switchyard.worker w on starts_with(a.application_name, 'caboose ' || w.worker_id || ' ')
where l.locktype = 'advisory' and l.classid = 1937204082 and l.granted
"""


class Candidate:
    """One caboose, with its own way to the API server: what it asks for there is known."""

    def __init__(self, yard: Yard, way: Interceptor) -> None:
        self.yard, self.way = yard, way
        self.caboose = yard.caboose

    def leads(self) -> bool:
        return self.yard.database.execute(LEADER) == [(self.caboose.pid,)]

    def wrote(self) -> list[tuple[str, str, int]]:
        """Everything that it asked the API server to change."""
        return [seen for seen in self.way.answers if seen[0] != "GET"]

    def beats(self, since: datetime) -> bool:
        """It is registered, and its heartbeat is newer than that."""
        rows = self.yard.database.execute(
            "select 1 from switchyard.worker where pid = %s and beat_at > %s and lost_at is null and ended_at is null",
            self.caboose.pid,
            since,
        )
        return bool(rows)

    def now(self) -> datetime:
        ((now,),) = self.yard.database.execute("select clock_timestamp()")
        assert isinstance(now, datetime)
        return now


@pytest.fixture
def pair(
    kubernetes: Cluster, namespace: str, database: Database, tmp_path: Path
) -> Iterator[tuple[Candidate, Candidate]]:
    """The leader and its standby, both up."""
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
            )
            made.append(Candidate(yard, way))
        leader, standby = made
        try:
            began = leader.now()
            leader.caboose.start()
            until(leader.leads)
            standby.caboose.start()
            until(lambda: standby.beats(began))
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
    until(lambda: finished(leader.yard, before))
    assert standby.wrote() == []
    died = time.time()
    leader.caboose.kill()
    after = [standby.yard.ended("good") for _ in range(5)]
    until(standby.leads, 4 * PROMISED)
    assert time.time() - died < PROMISED
    until(lambda: finished(standby.yard, after))
    judge(standby.yard, before + after)


def test_a_stopped_leader_that_wakes_up_writes_nothing_and_deletes_nothing(
    pair: tuple[Candidate, Candidate],
) -> None:
    leader, standby = pair
    # It has its hands full when it is stopped: archived, recorded, and its deletes on their way.
    leader.way.inject(Fault("DELETE", status=503, hang=600, times=1000))
    uuids = [leader.yard.ended("good") for _ in range(MANY)]
    until(lambda: leader.way.waiting > 0)
    leader.caboose.pause()
    # It leads for as long as it has its session: the standby marks it lost, which ends that. No conductor runs.
    until(standby.leads, 4 * PROMISED)
    until(lambda: finished(standby.yard, uuids))
    leader.way.clear()  # its deletes are refused, and only that it does not lead keeps it from trying again
    resumed = leader.now()
    leader.caboose.resume()
    until(lambda: leader.beats(resumed))
    assert leader.wrote() == []
    judge(leader.yard, uuids)
    standby.caboose.kill()
    more = [leader.yard.ended("good") for _ in range(3)]
    until(leader.leads, 4 * PROMISED)
    until(lambda: finished(leader.yard, more))
    judge(leader.yard, uuids + more)


def test_stopped_anywhere_in_its_work_it_doubles_nothing(pair: tuple[Candidate, Candidate]) -> None:
    leader, standby = pair
    uuids = [leader.yard.ended("good") for _ in range(MANY)]
    until(lambda: len(leader.yard.in_cluster()) < MANY)
    time.sleep(random.uniform(0, 0.2))  # not a wait for anything: the moment of the stop is the test
    leader.caboose.pause()
    until(standby.leads, 4 * PROMISED)
    until(lambda: finished(standby.yard, uuids))
    wrote, resumed = leader.wrote(), leader.now()
    leader.caboose.resume()
    until(lambda: leader.beats(resumed))
    assert leader.wrote() == wrote
    judge(leader.yard, uuids)
