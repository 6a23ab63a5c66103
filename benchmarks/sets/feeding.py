"""A campaign from a file whose feeder is killed again and again: no item is missed, and none is run twice.

    python -m benchmarks.sets.feeding [--items 200000] [--kills 50]

The feeder is `switchyard campaign start`, killed with SIGKILL after a few pages and started again as it was.
Meanwhile two conductors submit and run the items; one of them, or the caboose, is killed every few seconds.
"""

import argparse
import json
import math
import random
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.report import Figure, publish
from benchmarks.sets.fleet import BIN, PATIENCE, Fleet, fleet
from tests.waiting import until

READ = "select items from switchyard.campaign where name = 'fed'"
RUN = """
    select a.parameters ->> 'id', count(*), count(*) filter (where t.status = 'SUCCESSFUL')
    from switchyard.campaign c join switchyard.action a on a.member_of = c.action_uuid
    join switchyard.thread t on t.action_uuid = a.action_uuid
    where c.name = 'fed' group by 1
"""
LINES = 1000  # of a page


class Feeder:
    """The command, which is run again as it was until it has read everything."""

    def __init__(self, on: Fleet, file: Path) -> None:
        self._on = on
        self._command: Sequence[str | Path] = [
            BIN / "switchyard", "campaign", "start", "fed", "--action", "work", "--from-file", file, "--in-flight", "5000",
            "--callbacks", '[{"name": "over", "action": "work"}]', "-c", on.file,
        ]  # fmt: skip

    def feed(self, kills: int, pages: int, chance: random.Random) -> int:
        """Read the file, killed that often at most, evenly over its pages; how often it was."""
        killed = 0
        while killed < kills:
            read = self._read()
            share = (pages - read // LINES) // (kills - killed + 1)
            if self._ends(read + LINES * chance.randint(0, max(0, share - 1)), chance.uniform(0, 0.004)):
                return killed
            killed += 1
        assert self._ends(math.inf, 0)
        return killed

    def _ends(self, most: float, later: float) -> bool:
        """Run the command, and kill it a moment after it has read more items than that; whether it had ended."""
        environ = {"PATH": "/usr/bin:/bin", **self._on.environ}
        with subprocess.Popen(self._command, env=environ, stdout=subprocess.DEVNULL) as child:
            try:
                until(lambda: child.poll() is not None or self._read() > most, PATIENCE, every=0.002)
                time.sleep(later)
            finally:
                child.kill()
        assert child.returncode in (0, -signal.SIGKILL), f"the feeder ended with {child.returncode}"
        return child.returncode == 0

    def _read(self) -> int:
        rows = self._on.connection.execute(READ).fetchall()
        return int(rows[0][0]) if rows else 0


def lines(folder: Path, items: int) -> Path:
    """A file of this many items."""
    file = folder / "items.jsonl"
    with file.open("w") as out:
        for number in range(items):
            out.write(json.dumps({"id": f"item {number}", "n": number}) + "\n")
    return file


def fed(on: Fleet, items: int, kills: int, kill_every: float, seed: int) -> list[Figure]:
    """The campaign, to its end."""
    began = time.monotonic()
    feeder = Feeder(on, lines(on.folder, items))
    with on.tended(kill_every, seed) as victims:
        killed = feeder.feed(kills, items // LINES, random.Random(seed))
        read = time.monotonic() - began
        print(f"read in {read:.0f} s; the feeder was killed {killed} times", flush=True)
        on.until_ended("fed")
    took = time.monotonic() - began
    actions = {name: (count, good) for name, count, good in on.connection.execute(RUN).fetchall()}
    missed = {f"item {number}" for number in range(items)} - actions.keys()
    return [
        Figure("items", items, ""),
        Figure("feeder killed", killed, "times", at_least=kills),
        Figure("conductors and caboose killed", len(victims), "times"),
        on.ended_by_themselves(),
        Figure("items missed", len(missed), "", at_most=0),
        Figure("items run twice", sum(count > 1 for count, _ in actions.values()), "", at_most=0),
        Figure("items that were successful", sum(good for _, good in actions.values()), "", at_least=items, at_most=items),
        Figure("read", read, "s"),
        Figure("read and run", took, "s"),
    ]  # fmt: skip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--items", type=int, default=200_000)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--kill-every", type=float, default=15.0, help="of the programs, seconds; 0: never")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    with fleet({"type": "noop"}) as on:
        on.start()
        figures = fed(on, chosen.items, chosen.kills, chosen.kill_every, chosen.seed)
    publish("Campaign with a feeder that is killed", figures)


if __name__ == "__main__":
    main()
