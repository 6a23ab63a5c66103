"""Local processes from hand-over to callback, with a spawned caboose that is stopped, killed and doubled."""

import random
import sys
import time
from typing import Any

from tests.acceptance.caboose.conftest import Stations
from tests.acceptance.caboose.station import Station
from tests.waiting import until

WRITE = (
    "import json,os,time,urllib.parse as u\n"
    "given = json.load(open(u.urlsplit(os.environ['SWITCHYARD_INPUT']).path))\n"
    "time.sleep(given.get('seconds', 0))\n"
    "json.dump({'n': given['n']}, open(u.urlsplit(os.environ['SWITCHYARD_OUTPUT']).path + '/output.json', 'w'))\n"
    "raise SystemExit(given.get('code', 0))"
)
FLOWS: dict[str, Any] = {
    "work": {
        "action": "run",
        "template": [sys.executable, "-S", "-c", WRITE],
        "callbacks": [{"name": "done", "action": "hook", "parameters": {"n": {"path": "$.output.n"}}}],
    },
    "sleep": {"action": "run", "template": "sleep 60", "callbacks": [{"name": "done", "action": "hook"}]},
    "short": {"action": "run", "template": "sleep 60", "timeout": "1s"},
}


def test_from_hand_over_to_callback_and_a_clean_stop(stations: Stations) -> None:
    station = stations(FLOWS)
    station.caboose.start()
    until(lambda: station.caboose.get("/readyz")[0] == 200)
    good, bad = station.submit("work", n=7), station.submit("work", n=8, code=65)
    station.hand_over(good, bad)
    until(lambda: station.ledger.statuses(good, bad) == ["SUCCESSFUL", "FAILED"])
    until(lambda: station.executions() == [])
    assert _callbacks(station) == [(str(good), 7), (str(bad), 8)]
    assert station.caboose.get("/livez")[0] == 200
    metrics = station.caboose.get("/metrics")[1]
    assert 'switchyard_caboose_ends_total{source="local' in metrics
    assert station.database.execute("select state from switchyard.fleet") == [("running",)]
    assert station.caboose.stop() == 0
    assert station.database.execute("select state from switchyard.fleet") == [("ended",)]


def test_killed_at_random_it_loses_nothing_and_doubles_nothing(stations: Stations) -> None:
    station = stations(FLOWS)
    chance = random.Random(5)
    uuids = [station.submit("work", n=n, seconds=chance.uniform(0, 4)) for n in range(40)]
    station.caboose.start()
    station.hand_over(*uuids)
    for turn in range(8):
        time.sleep(chance.uniform(0.5, 1.2))  # not a wait for anything: the moment of the kill is the test
        if turn % 3 == 2:
            station.database.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity "
                "where starts_with(application_name, 'caboose')"
            )
        else:
            station.caboose.kill()
            station.caboose.start()
    until(lambda: set(station.ledger.statuses(*uuids)) == {"SUCCESSFUL"})
    until(lambda: station.executions() == [])
    assert sorted(n for _, n in _callbacks(station)) == list(range(40))
    (ends,) = station.database.execute(
        "select count(*) filter (where not ignored), count(*) from switchyard.event where status = 'SUCCESSFUL'"
    )
    assert ends == (40, 40), "no end was written twice, not even in vain"
    until(lambda: station.caboose.get("/readyz")[0] == 200)
    assert station.caboose.stop() == 0
    until(
        lambda: (
            station.database.execute("select count(*) from pg_locks where locktype = 'advisory'") == [(0,)]
        )
    )


def test_a_cancel_rings_and_the_process_is_stopped(stations: Stations) -> None:
    station = stations(FLOWS, caboose={"poll": "60s", "health": {"port": None}})
    uuid = station.submit("sleep")
    station.hand_over(uuid)
    station.caboose.start()
    until(lambda: station.ledger.statuses(uuid) == ["RUNNING"])
    station.database.execute("select switchyard.cancel(%s, 'ann', 'no more')", uuid)
    until(lambda: station.executions() == [])
    assert station.ledger.statuses(uuid) == ["CANCELED"]
    assert len(_callbacks(station)) == 1
    archive = station.store.get(f"executions/{uuid}/r1/workflow.json")
    assert b'"reason": "stopped"' in archive


def test_a_workflow_that_stays_too_long_times_out_and_is_stopped(stations: Stations) -> None:
    station = stations(FLOWS)
    uuid = station.submit("short")
    station.hand_over(uuid)
    station.caboose.start()
    until(lambda: station.ledger.statuses(uuid) == ["TIMED_OUT"])
    until(lambda: station.executions() == [])


def test_two_cabooses_share_the_work(stations: Stations) -> None:
    station = stations(FLOWS, caboose={"poll": "200ms", "health": {"port": None}})
    shares = [station.program("caboose", "--shard", f"{index}/2") for index in range(2)]
    for share in shares:
        share.start()
    uuids = [station.submit("work", n=n) for n in range(10)]
    station.hand_over(*uuids)
    until(lambda: set(station.ledger.statuses(*uuids)) == {"SUCCESSFUL"})
    until(lambda: station.executions() == [])
    assert len(_callbacks(station)) == 10
    assert [share.stop() for share in shares] == [0, 0]


def _callbacks(station: Station) -> list[tuple[str, Any]]:
    rows = station.database.execute(
        "select parent_uuid::text, parameters -> 'n' from switchyard.action where callback = 'done' order by 1"
    )
    return [(row[0], row[1]) for row in rows]
