"""A campaign from a file whose feeder is killed again and again: no item is missed, and none is run twice.

    python -m benchmarks.sets.feeding [--items 200000] [--kills 50]

The feeder is `switchyard campaign start`, killed with SIGKILL after a few pages and started again as it was.
Meanwhile two conductors submit and run the items; one of them, or the caboose, is killed every few seconds.
"""

import argparse
import json
import random
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.report import Figure, publish
from benchmarks.sets.fleet import BIN, Fleet, fleet

READ = "select items, complete from switchyard.campaigns where name = 'fed'"
RUN = """
    select a.parameters ->> 'id', count(*) from switchyard.campaign c join switchyard.action a on a.member_of = c.action_uuid
    join switchyard.thread t on t.action_uuid = a.action_uuid
    where c.name = 'fed' and t.status = 'SUCCESSFUL' group by 1
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
        while True:
            read = self._read()
            share = (pages - read // LINES) // (kills - killed + 1)
            until = read + LINES * chance.randint(0, max(0, share - 1))
            with subprocess.Popen(
                self._command, env={"PATH": "/usr/bin:/bin", **self._on.environ}, stdout=subprocess.DEVNULL
            ) as child:
                if killed == kills:
                    assert child.wait(600) == 0
                    return killed
                while child.poll() is None and self._read() <= until:
                    time.sleep(chance.uniform(0, 0.004))
                if child.poll() is None:
                    child.kill()
                    killed += 1
                else:
                    assert child.returncode == 0
                    return killed

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
    with on.killed(kill_every, seed) as victims:
        killed = feeder.feed(kills, items // LINES, random.Random(seed))
        read = time.monotonic() - began
        print(f"read in {read:.0f} s; the feeder was killed {killed} times", flush=True)
        status = on.until_ended("fed")
    took = time.monotonic() - began
    run: dict[str, int] = dict(on.connection.execute(RUN).fetchall())
    missed = {f"item {number}" for number in range(items)} - run.keys()
    twice = [name for name, count in run.items() if count > 1]
    assert status == "SUCCESSFUL", status
    return [
        Figure("items", items, ""),
        Figure("feeder killed", killed, "times", at_least=kills),
        Figure("conductors and caboose killed", len(victims), "times"),
        Figure("items missed", len(missed), "", at_most=0),
        Figure("items run twice", len(twice), "", at_most=0),
        Figure("read", read, "s"),
        Figure("read and run", took, "s"),
    ]


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
