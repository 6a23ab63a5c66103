"""Executions of a workflow with limits, counted by the processes themselves while conductors are killed."""

import random
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.acceptance.caboose.conftest import Stations
from tests.waiting import until

COUNTED = (
    "import json,os,sys,time,urllib.parse as u\n"
    "given = json.load(open(u.urlsplit(os.environ['SWITCHYARD_INPUT']).path))\n"
    "file = os.open(sys.argv[1], os.O_APPEND | os.O_CREAT | os.O_WRONLY)\n"
    "os.write(file, f\"1 {given['lane']}\\n\".encode())\n"
    "time.sleep(1.5)\n"
    "os.write(file, f\"-1 {given['lane']}\\n\".encode())\n"
)
RUNNING, LANE_RUNNING, EXECUTIONS = 4, 2, 30
END_SESSIONS = """select count(pg_terminate_backend(pid)) from pg_stat_activity where application_name like 'conductor %%'
  or application_name like 'caboose%%'"""


def counted(log: Path) -> tuple[int, int, int]:
    """The most at once, the most at once in one lane, and how many there were."""
    now: Counter[str] = Counter()
    most = most_in_lane = starts = 0
    for line in log.read_text().splitlines():
        step, lane = line.split()
        now[lane] += int(step)
        most, most_in_lane = max(most, now.total()), max(most_in_lane, now[lane])
        starts += step == "1"
    return most, most_in_lane, starts


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_no_more_processes_run_than_the_limits_allow_whatever_dies(
    stations: Stations, tmp_path: Path
) -> None:
    log = tmp_path / "counted"
    flow = {
        "action": "run",
        "template": [sys.executable, "-S", "-c", COUNTED, str(log)],
        "limits": {"running": RUNNING, "per_lane": {"running": LANE_RUNNING}},
    }
    actions = {
        "run": {
            "type": "local",
            "spool": str(tmp_path / "spool"),
            "lane": "$.lane",
            "retry": {"attempts": 50},
        }
    }
    settings = {
        "workers": {"beat": "500ms", "lost_after": "2s", "min_lost": 1_000_000},
        "conductor": {"poll": "1s"},
    }
    station = stations({"counted": flow}, actions=actions, **settings)
    chance = random.Random(16)
    station.caboose.start()
    conductors = [station.add_conductor() for _ in range(2)]
    until(lambda: station.database.execute("select count(*) from switchyard.flow") == [(2,)])
    for number in range(EXECUTIONS):
        station.submit("counted", lane="ABC"[number % 3])
    for blow in range(6):
        time.sleep(chance.uniform(0.5, 1.5))  # not a wait for anything: the moment of the kill is the test
        conductors.pop(0).kill()
        conductors.append(station.add_conductor())
        if blow % 2:
            station.database.execute(END_SESSIONS)
    until(lambda: station.ledger.open() == 0, 240, every=0.2)
    most, most_in_lane, starts = counted(log)
    assert starts == EXECUTIONS, "each ran once"
    assert (most, most_in_lane) == (RUNNING, LANE_RUNNING), "never more, and what is allowed is used"
    until(lambda: station.database.execute("select sum(in_flight) from switchyard.lane") == [(0,)])
