"""The whole line: submit, conductor, process, caboose, callbacks; both programs killed again and again."""

import json
import random
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.acceptance.caboose.conftest import Stations
from tests.waiting import until

# Every start leaves a line, so that a second one cannot hide.
WORK = (
    "import json,os,random,sys,time,urllib.parse as u\n"
    "name = os.environ['SWITCHYARD_ACTION_UUID'] + ' r' + os.environ['SWITCHYARD_RUN']\n"
    "os.write(os.open(sys.argv[1], os.O_APPEND | os.O_CREAT | os.O_WRONLY), (name + '\\n').encode())\n"
    "given = json.load(open(u.urlsplit(os.environ['SWITCHYARD_INPUT']).path))\n"
    "time.sleep(random.random())\n"
    "if given['n'] % 5 == 0 and os.environ['SWITCHYARD_RUN'] == '1': sys.exit(75)\n"
    "json.dump({'n': given['n']}, open(u.urlsplit(os.environ['SWITCHYARD_OUTPUT']).path + '/output.json', 'w'))\n"
)
COUNT = 20


def flows(starts: Path) -> dict[str, Any]:
    template = [sys.executable, "-S", "-c", WORK, str(starts)]
    done = {"name": "done", "action": "hook", "parameters": {"n": {"path": "$.output.n"}}}
    chain = {"name": "next", "action": "run", "workflow": "report", "input": {"path": "$.output"}}
    retry = {"attempts": 3, "base": "100ms"}
    return {
        "work": {"action": "run", "template": template, "retry": retry, "callbacks": [done, chain]},
        "report": {"action": "run", "template": template, "retry": retry, "callbacks": [done]},
    }


def test_the_line_under_kills_starts_nothing_twice_and_loses_nothing(
    stations: Stations, tmp_path: Path
) -> None:
    starts = tmp_path / "starts"
    settings = {"poll": "500ms", "unknown_after": "5s", "health": {"port": None}}
    station = stations(flows(starts), conductor=settings)
    conductor = station.program("conductor")
    chance = random.Random(11)
    try:
        conductor.start()
        station.caboose.start()
        for n in range(COUNT):
            station.database.execute(
                "select switchyard.submit('run', %s, workflow => 'work')", json.dumps({"n": n})
            )
        lost = _submit_with_a_callback_to_nobody(station)
        for turn in range(6):
            time.sleep(chance.uniform(0.5, 2.5))  # the moment of the kill is the test
            victim = (conductor, station.caboose)[turn % 2]
            victim.kill()
            victim.start()
        until(lambda: _open(station) == 0 and _ended(station) == 4 * COUNT + 5, 120)
        until(lambda: station.executions() == [])
    finally:
        conductor.kill()
    _check(station, Counter(starts.read_text().split("\n")[:-1]), lost)
    until(lambda: station.caboose.get("/readyz")[0] == 200)
    assert station.caboose.stop() == 0


def _submit_with_a_callback_to_nobody(station: Any) -> str:
    own = [{"name": "lost", "action": "nobody"}]
    (row,) = station.database.execute(
        "select switchyard.submit('run', '{\"n\": 1}', workflow => 'work', callbacks => %s)", json.dumps(own)
    )
    return str(row[0])


def _check(station: Any, starts: Counter[str], lost: str) -> None:
    others = station.database.execute(
        "select a.callback, a.parent_uuid::text, t.status::text, t.needs_review from switchyard.thread t "
        "join switchyard.action a using (action_uuid) where t.status <> 'SUCCESSFUL'"
    )
    assert others == [("lost", lost, "INVALID", True)], "what nobody serves is seen"
    assert set(starts.values()) == {1}, "a run is started once"
    runs = station.database.execute(
        "select action_uuid::text || ' r' || generate_series(1, run) from switchyard.thread where action_name = 'run'"
    )
    # A kill takes what conductor is just starting along, like a power cut: such a run ended before its first line.
    cut_off = station.database.execute(
        "select action_uuid::text || ' r' || run - 1 from switchyard.event "
        "where status = 'BACKOFF' and attempt = 0 and position('died' in error) > 0"
    )
    missing = {row[0] for row in runs} - set(starts)
    assert missing <= {row[0] for row in cut_off}, "every run was started, or cut off while it was"
    assert set(starts) <= {row[0] for row in runs}, "nothing was started that nobody asked for"
    callbacks = station.database.execute(
        "select callback, parent_uuid, count(*) from switchyard.action where callback is not null group by 1, 2"
    )
    assert Counter(row[0] for row in callbacks) == {"done": 2 * (COUNT + 1), "next": COUNT + 1, "lost": 1}
    assert {row[2] for row in callbacks} == {1}


def _open(station: Any) -> int:
    ((number,),) = station.database.execute("select count(*) from switchyard.yard")
    return int(number)


def _ended(station: Any) -> int:
    ((number,),) = station.database.execute(
        "select count(*) from switchyard.thread where ended_at is not null"
    )
    return int(number)
