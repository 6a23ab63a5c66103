"""Limits under fire: three conductors, SIGKILL, ended backends and a server restart; the receiver counts.

Sized for a test run; SWITCHYARD_CHAOS_SECONDS=60 and SWITCHYARD_CHAOS_LANES=1000 are what the limits promise.
"""

import os
import random
import signal
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from switchyard.ledger import migrate
from tests.acceptance.conductor.lanes import Lanes, lanes
from tests.acceptance.conductor.test_chaos import PROCESSES, replace_ended, rows, strike
from tests.deployment.deployment import Deployment
from tests.parts.database import Database
from tests.parts.postgres import Server
from tests.waiting import until

SECONDS = float(os.environ.get("SWITCHYARD_CHAOS_SECONDS", "8"))
LANES = int(os.environ.get("SWITCHYARD_CHAOS_LANES", "30"))
NAME_LIMIT, LANE_LIMIT, RATE, BURST = 25, 3, 10, 5
LATE = 1.5  # seconds from a token, in the database, to the request's arrival here, on a busy machine
COUNT = max(
    100, LANES // 3
)  # in front of each blow; some lanes get many of them, and all get some in a long run
SUBMIT = """insert into switchyard.action (action_name, parameters)
  select 'hook', jsonb_build_object('lane', 'lane' || floor({lanes} * random() ^ 2)) from generate_series(1, {count})"""


def config(receiver: Lanes) -> dict[str, Any]:
    hook = {
        "type": "http",
        "allow_networks": ["127.0.0.0/8"],
        "concurrency": 20,
        "request": {"url": receiver.url + "/{{ parameters.lane }}/{{ action.uuid }}"},
        "retry": {"attempts": 100, "base": "50ms", "max": "200ms"},
        "lane": "$.lane",
        "limits": {
            "in_flight": NAME_LIMIT,
            "per_lane": {"in_flight": LANE_LIMIT, "rate": f"{RATE}/s", "burst": BURST},
        },
    }
    return {
        "actions": {"hook": hook},
        "workers": {"beat": "500ms", "lost_after": "2s", "min_lost": 1_000_000},
        "conductor": {"poll": "2s"},
    }


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_no_limit_is_exceeded_and_no_slot_is_lost_whatever_dies(own_postgres: Server, tmp_path: Path) -> None:
    migrate.upgrade(own_postgres.url())
    database = Database("postgres", own_postgres.url())
    chance = random.Random(20261118)
    with lanes(0.1) as receiver, closing(Deployment(database, tmp_path)) as deployment:
        settings = config(receiver)
        for _ in range(PROCESSES):
            deployment.add_conductor(settings)
        deployment.registered(PROCESSES)
        deadline, blow = time.monotonic() + SECONDS, 0
        while time.monotonic() < deadline:
            rows(database, SUBMIT.format(lanes=LANES, count=COUNT).encode())
            strike(deployment, own_postgres, chance, settings, blow)
            blow += 1
            time.sleep(1)  # not a wait for anything: the pace of the blows
        replace_ended(deployment, settings)
        until(lambda: rows(database, "select count(*) from switchyard.yard") == [(0,)], 300)
        until(lambda: rows(database, "select sum(in_flight) from switchyard.lane") == [(0,)])
        assert rows(database, "select * from switchyard.verify()") == []
        for member in deployment.programs:
            if member.running():
                member.send(signal.SIGTERM)
                member.wait(60)
    assert receiver.open.total() == 0
    assert LANE_LIMIT < receiver.most_at_once <= NAME_LIMIT
    assert max(receiver.most.values()) == LANE_LIMIT
    for times in receiver.times.values():
        for first, start in enumerate(times):
            for count, end in enumerate(times[first:], 1):
                assert count <= RATE * (end - start + LATE) + BURST
