"""The systems that are compared: how each is filled, started, released and found empty."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import LiteralString, Protocol

import psycopg

from benchmarks.peers import install
from switchyard.ledger import migrate
from tests.deployment import configuration

ALIVE: LiteralString = "select count(*) from switchyard.worker where ended_at is null and lost_at is null"


class Contestant(Protocol):
    """One system."""

    name: str
    left: LiteralString

    @property
    def running(self) -> Sequence[subprocess.Popen[str]] | Sequence[subprocess.Popen[bytes]]:
        """Its processes."""

    def prepare(self, url: str, count: int) -> None:
        """Make the schema and submit this many."""

    def start(self, url: str, processes: int) -> None:
        """Start this many processes, ready but idle."""

    def go(self, url: str, /) -> None:
        """Begin."""

    def stop(self) -> None:
        """End all of them."""


@dataclass
class Peer:
    """A program that prints `ready` and waits for a line."""

    name: str
    left: LiteralString
    command: Sequence[str | Path]
    cwd: Path | None = None
    running: list[subprocess.Popen[str]] = field(default_factory=list)

    def prepare(self, url: str, count: int) -> None:
        subprocess.run([*self.command, "prepare", url, str(count)], cwd=self.cwd, check=True)

    def start(self, url: str, processes: int) -> None:
        self.running = [
            subprocess.Popen(
                [*self.command, "drain", url],
                cwd=self.cwd,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            for _ in range(processes)
        ]
        for child in self.running:
            assert child.stdout is not None
            assert child.stdout.readline().strip() == "ready", self.name

    def go(self, _url: str, /) -> None:
        for child in self.running:
            assert child.stdin is not None
            child.stdin.write("go\n")
            child.stdin.flush()

    def stop(self) -> None:
        _end(self.running)


@dataclass
class Switchyard:
    """`conductor run` as a user starts it, on a name that is paused until the start."""

    workers: int
    batch: int
    name: str = "switchyard"
    left: LiteralString = "select exists (select from switchyard.yard where status <= 'BACKOFF')"
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def prepare(self, url: str, count: int) -> None:
        migrate.upgrade(url)
        self.submit(url, count)

    def submit(self, url: str, count: int) -> None:
        """More of them, on a name that is paused."""
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("select switchyard.pause('noop', 'bench', 'until all are ready')")
            for _ in range(count // 10_000):
                connection.execute(
                    "insert into switchyard.action (action_name) select 'noop' from generate_series(1, 10000)"
                )

    def start(self, url: str, processes: int) -> None:
        file = Path(tempfile.mkdtemp(prefix="switchyard-bench-")) / "switchyard.yaml"
        conductor = {"batch": self.batch, "workers": self.workers, "health": {"port": None}}
        configuration.write(file, {"conductor": conductor, "actions": {"noop": {"type": "noop"}}})
        command: list[str | Path] = [Path(sys.executable).parent / "conductor", "run", "-c", file]
        environment = {**os.environ, "DATABASE_URL": url}
        self.running = [
            subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) for _ in range(processes)
        ]
        with psycopg.connect(url, autocommit=True) as connection:
            wanted = processes * self.workers
            while connection.execute(ALIVE).fetchone() != (wanted,):
                assert all(child.poll() is None for child in self.running), "conductor ended"

    def go(self, url: str, /) -> None:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("select switchyard.resume('noop', 'bench', 'go')")

    def stop(self) -> None:
        for child in self.running:
            child.terminate()
        for child in self.running:
            with suppress(subprocess.TimeoutExpired):
                child.wait(30)
        _end(self.running)


class Floor(Peer):
    """The same SQL in a loop inside the server, on as many connections: an upper bound for every client."""

    def __init__(self, workers: int, batch: int) -> None:
        super().__init__("floor", Switchyard.left, [])
        self._like = Switchyard(workers, batch)
        self._script = Path(__file__).with_name("floor.sql").read_text().replace(":batch", str(batch))

    def prepare(self, url: str, count: int) -> None:
        self._like.prepare(url, count)

    def start(self, url: str, processes: int) -> None:
        self.command = [sys.executable, Path(__file__).with_name("in_server.py"), self._script]
        super().start(url, processes * self._like.workers)

    def go(self, url: str, /) -> None:
        self._like.go(url)
        super().go(url)


def all_of(workers: int, batch: int) -> list[Contestant]:
    """All systems that are available here."""
    node = install.node()
    return [
        Switchyard(workers, batch),
        Floor(workers, batch),
        Peer(
            "graphile-worker",
            "select exists (select from graphile_worker._private_jobs)",
            ["node", "graphile.mjs"],
            node,
        ),
        Peer(
            "pg-boss",
            "select exists (select from pgboss.job where name = 'noop' and state < 'completed')",
            ["node", "pgboss.mjs"],
            node,
        ),
        Peer(
            "river",
            "select exists (select from river_job where state in ('available', 'running'))",
            [install.river()],
        ),
    ]


def _end(children: Sequence[subprocess.Popen[str]] | Sequence[subprocess.Popen[bytes]]) -> None:
    for child in children:
        child.kill()
    for child in children:
        with suppress(subprocess.TimeoutExpired):
            child.wait(10)
        for stream in (child.stdin, child.stdout):
            if stream is not None:
                stream.close()
