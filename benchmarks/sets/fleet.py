"""Conductors and a caboose as they are deployed: whoever is killed is started again."""

import random
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.server import fresh, server
from switchyard.ledger import migrate
from tests.deployment import configuration
from tests.faults.program import Program
from tests.parts import logs

BIN = Path(sys.executable).parent
ROOT = Path(__file__).parent.parent.parent
BEATING = "select count(*) from switchyard.worker where ended_at is null and lost_at is null"
CAMPAIGN = "select items, waiting, open, successful, unsuccessful, status::text from switchyard.campaigns where name = %s"
EVERY = 5.0  # seconds between two lines of progress
PATIENCE = 3600.0


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
        while self.connection.execute(BEATING).fetchone() != (len(self.programs),):
            time.sleep(0.05)

    def until_ended(self, campaign: str) -> str:
        """Wait for the end of a campaign, with a line of progress now and then; its status."""
        began = said = time.monotonic()
        while True:
            [(items, waiting, still, good, bad, status)] = self.connection.execute(
                CAMPAIGN, [campaign]
            ).fetchall()
            if status not in ("PENDING", "QUEUED", "RUNNING"):
                return str(status)
            assert time.monotonic() - began < PATIENCE, "the campaign does not end"
            if time.monotonic() - said > EVERY:
                said = time.monotonic()
                print(
                    f"{said - began:5.0f} s: {good + bad:,} of {items:,} ended, {still:,} open, {waiting:,} wait",
                    flush=True,
                )
            for program in self.programs:
                program.tend()
            time.sleep(0.2)

    @contextmanager
    def killed(self, every: float, seed: int) -> Iterator[list[str]]:
        """One of them is killed every so often, and started again; those that were."""
        victims: list[str] = []
        over = threading.Event()

        def kill() -> None:
            chance = random.Random(seed)
            while not over.wait(every):
                victim = chance.choice(self.programs)
                if victim.process.running():
                    victim.kill()
                    victims.append(victim.name)

        thread = threading.Thread(target=kill, daemon=True)
        if every:
            thread.start()
        try:
            yield victims
        finally:
            over.set()
            if every:
                thread.join()

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
