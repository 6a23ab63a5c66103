"""Conductors and a caboose as they are deployed: whoever is killed is started again."""

import random
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.report import Figure
from benchmarks.server import fresh, server
from switchyard.ledger import migrate
from tests.deployment import configuration
from tests.faults.program import Program
from tests.parts import logs
from tests.waiting import until

BIN = Path(sys.executable).parent
ROOT = Path(__file__).parent.parent.parent
BEATING = "select count(*) from switchyard.worker where ended_at is null and lost_at is null"
CAMPAIGN = "select items, waiting, open, successful, unsuccessful, status::text from switchyard.campaigns where name = %s"
EVERY = 5.0  # seconds between two lines of progress
PATIENCE = 600.0  # without an end; a worker that was killed is lost after 30 s


class Fleet:
    """Spawned on a database of its own; `connection` is the benchmark's."""

    def __init__(self, url: str, folder: Path, action: Mapping[str, Any], conductors: int) -> None:
        self.url, self.folder = url, folder
        migrate.upgrade(url)
        self.connection = psycopg.connect(url, autocommit=True)
        quiet = {"health": {"port": None}}
        content = {
            "database": {"url": "env:DATABASE_URL"}, "store": (folder / "store").as_uri(),
            "conductor": quiet, "caboose": quiet, "workers": {"min_lost": 1_000_000}, "actions": {"work": action},
        }  # fmt: skip
        self.file = configuration.write(folder / "switchyard.yaml", content)
        self.environ = {
            "DATABASE_URL": url,
            "PYTHONPATH": f"{folder}:{ROOT}",
            "BENCH_NOTES": str(folder / "notes"),
        }
        names = [*(f"conductor-{number + 1}" for number in range(conductors)), "caboose"]
        self.programs = [
            Program(name, [BIN / name.split("-")[0], "run", "-c", self.file], self.environ, None)
            for name in names
        ]

    def start(self) -> None:
        """All of them, and wait until the ledger knows them."""
        for program in self.programs:
            program.start()
        until(lambda: self.connection.execute(BEATING).fetchone() == (len(self.programs),))

    def until_ended(self, campaign: str) -> str:
        """Wait for the end of a campaign, with a line of progress now and then; its status."""
        began = said = moved = time.monotonic()
        done = -1
        while True:
            [(items, waiting, still, good, bad, status)] = self.connection.execute(
                CAMPAIGN, [campaign]
            ).fetchall()
            if status not in ("PENDING", "QUEUED", "RUNNING"):
                return str(status)
            now = time.monotonic()
            if good + bad > done:
                done, moved = good + bad, now
            assert now - moved < PATIENCE, f"of the campaign, nothing has ended for {PATIENCE} s"
            if now - said > EVERY:
                said = now
                print(
                    f"{now - began:5.0f} s: {done:,} of {items:,} ended, {still:,} open, {waiting:,} wait",
                    flush=True,
                )
            time.sleep(0.2)

    @contextmanager
    def tended(self, kill_every: float, seed: int) -> Iterator[list[str]]:
        """Whoever ends is started again, and one of them is killed every so often (0: never); those that were."""
        victims: list[str] = []
        over = threading.Event()
        with ThreadPoolExecutor(1) as pool:
            tending = pool.submit(self._tend, kill_every, random.Random(seed), victims, over)
            try:
                yield victims
            finally:
                over.set()
            tending.result()

    def _tend(
        self, kill_every: float, chance: random.Random, victims: list[str], over: threading.Event
    ) -> None:
        """In one thread: two would both start a program that has ended."""
        due = time.monotonic() + kill_every
        while not over.wait(0.2):
            for program in self.programs:
                program.tend()
            if kill_every and time.monotonic() > due:
                due += kill_every
                victim = chance.choice(self.programs)
                if victim.process.running():
                    victim.kill()
                    victims.append(victim.name)

    def ended_by_themselves(self) -> Figure:
        """Those that ended though nobody killed them."""
        ends = [end for program in self.programs for end in program.strange_ends]
        print(*ends, sep="\n", end="\n" if ends else "")
        return Figure("programs that ended by themselves", len(ends), "", at_most=0)

    def stop(self) -> None:
        """Ask all of them to end."""
        for program in self.programs:
            program.stop()
        self.connection.close()


@contextmanager
def fleet(action: Mapping[str, Any], conductors: int = 2) -> Iterator[Fleet]:
    """On a server of its own; not started yet."""
    logs.begin_session()
    with server() as postgres, tempfile.TemporaryDirectory(prefix="switchyard-bench-") as name:
        made = Fleet(fresh(postgres), Path(name), action, conductors)
        try:
            yield made
        finally:
            made.stop()
