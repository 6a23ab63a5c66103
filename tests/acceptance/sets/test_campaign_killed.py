"""A campaign from a file, read by the command itself, which is killed between and within its pages."""

import json
import random
import subprocess
import time
from pathlib import Path

import pytest

from tests.acceptance.sets.killing import Killing
from tests.deployment.deployment import BIN
from tests.waiting import until

ITEMS, KILLS = 20_000, 6
SOON = 10  # seconds, on a busy machine: the goal is one, which benchmarks.sets.members measures
ITEMS_READ = "select items from switchyard.campaigns where name = 'fed'"
ENDED = "select status::text from switchyard.campaigns where name = 'fed'"
RUN = """
    select a.parameters ->> 'id', count(*), count(*) filter (where t.status = 'SUCCESSFUL')
    from switchyard.campaign c join switchyard.action a on a.member_of = c.action_uuid
    join switchyard.thread t on t.action_uuid = a.action_uuid group by 1
"""
ENDS = """
    select count(*) from switchyard.campaign c join switchyard.event e using (action_uuid)
    where e.status = 'SUCCESSFUL' and not e.ignored
"""
CALLED = (
    "select count(*) from switchyard.campaign c join switchyard.action a on a.parent_uuid = c.action_uuid"
)
LATE = """
    select extract(epoch from e.event_time - (
      select max(t.ended_at) from switchyard.action a join switchyard.thread t using (action_uuid) where a.member_of = c.action_uuid))::float
    from switchyard.campaign c join switchyard.event e using (action_uuid) where e.status = 'SUCCESSFUL' and not e.ignored
"""


@pytest.mark.timeout(400)
def test_a_campaign_whose_feeder_and_conductors_are_killed_runs_each_item_once(
    killing: Killing, tmp_path: Path
) -> None:
    """And a set of 20,000 members has one end, soon after the last of them, and one callback, whoever is killed."""
    file = tmp_path / "items.jsonl"
    file.write_text("".join(json.dumps({"id": f"item {n}", "n": n}) + "\n" for n in range(ITEMS)))
    killing.start()
    assert _fed(killing, file) >= KILLS // 2
    killing.kill_until(lambda: killing.database.execute(ENDED) == [("SUCCESSFUL",)], most=6)
    rows = killing.database.execute(RUN)
    assert {name for name, _, _ in rows} == {f"item {n}" for n in range(ITEMS)}
    assert {(all_, good) for _, all_, good in rows} == {(1, 1)}
    assert killing.database.execute(ENDS) == [(1,)]
    [(late,)] = killing.database.execute(LATE)
    assert late < SOON
    until(lambda: killing.database.execute(CALLED) == [(1,)], 60)
    assert killing.database.execute("select * from switchyard.verify()") == []


def _fed(killing: Killing, file: Path) -> int:
    """Start the command as it was until it has read everything; how often it was killed."""
    chance = random.Random(3)
    callbacks = '[{"name": "over", "action": "hook"}]'
    words = ["campaign", "start", "fed", "--action", "hook", "--from-file", str(file), "--in-flight", "2000"]
    command: list[str | Path] = [BIN / "switchyard", *words, "--callbacks", callbacks, "-c", killing.file]
    killed = 0
    while True:
        before = _read(killing)
        with subprocess.Popen(command, env=killing.environ, stdout=subprocess.DEVNULL) as feeder:
            while feeder.poll() is None and (killed == KILLS or _read(killing) == before):
                time.sleep(chance.uniform(0, 0.01))  # the moment of the kill is the test
            if feeder.poll() is not None:
                assert feeder.returncode == 0
                return killed
            feeder.kill()
            killed += 1


def _read(killing: Killing) -> int:
    rows = killing.database.execute(ITEMS_READ)
    return int(rows[0][0]) if rows else 0
