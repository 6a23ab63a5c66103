"""The conductor as a spawned program, with its configuration in a folder of the test's."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from tests.parts.database import Database
from tests.waiting import until

COMMAND = Path(sys.executable).parent / "conductor"


class Conductor:
    """One process of it."""

    def __init__(self, folder: Path, database: Database, number: int, config: dict[str, Any]) -> None:
        self.log = folder / f"conductor-{number}.log"
        self.file = folder / "switchyard.yaml"
        self.environ = {**os.environ, "DATABASE_URL": database.url}
        self._child: subprocess.Popen[bytes] | None = None
        write(self.file, folder, config)

    @property
    def pid(self) -> int:
        assert self._child is not None
        return self._child.pid

    def start(self, *words: str) -> None:
        """`conductor run`, and not waiting for it."""
        with self.log.open("ab") as out:
            self._child = subprocess.Popen(
                [COMMAND, "run", "-c", self.file, *words], env=self.environ, stdout=out, stderr=out
            )

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        """As a power cut would."""
        assert self._child is not None
        self._child.kill()
        self._child.wait()

    def wait(self, seconds: float = 30) -> int:
        """Its exit code."""
        assert self._child is not None
        return self._child.wait(seconds)

    def running(self) -> bool:
        return self._child is not None and self._child.poll() is None

    def names(self) -> list[dict[str, Any]]:
        """What it logged."""
        text = self.log.read_text() if self.log.exists() else ""
        return [
            json.loads(served)
            for served in text.splitlines()
            if served.startswith("{") and served.endswith("}")
        ]

    def said(self, event: str) -> bool:
        return any(served["event"].startswith(event) for served in self.names())

    def health(self) -> str:
        """Where it answers; waits until it does."""
        listens = until(
            lambda: [served for served in self.names() if served["event"] == "health server listens"], 60
        )
        return f"http://127.0.0.1:{listens[-1]['port']}"


class Fleet:
    """The conductors of one test; all are killed at its end."""

    def __init__(self, folder: Path, database: Database) -> None:
        self._folder = folder
        self.database = database
        self.members: list[Conductor] = []

    def add(self, config: dict[str, Any], *words: str) -> Conductor:
        """One more, started."""
        made = Conductor(self._folder, self.database, len(self.members), config)
        made.start(*words)
        self.members.append(made)
        return made

    def registered(self, count: int) -> None:
        """Wait until so many workers live."""
        alive = "select count(*) from switchyard.worker where ended_at is null and lost_at is null"
        until(lambda: self.database.execute(alive) == [(count,)], 60)

    def close(self) -> None:
        for member in self.members:
            if member.running():
                member.signal(signal.SIGCONT)
                member.kill()


@contextmanager
def fleet_of(folder: Path, database: Database) -> Iterator[Fleet]:
    fleet = Fleet(folder, database)
    try:
        yield fleet
    finally:
        fleet.close()


def write(file: Path, folder: Path, config: dict[str, Any]) -> None:
    """The configuration file, replaced in one step."""
    defaults = {"database": {"url": "env:DATABASE_URL"}, "store": f"file://{folder}/store"}
    conductor = {"health": {"port": 0}, "grace": "10s", **config.get("conductor", {})}
    partial = file.with_suffix(".partial")
    partial.write_text(yaml.safe_dump({**defaults, **config, "conductor": conductor}))
    partial.replace(file)
