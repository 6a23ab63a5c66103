"""`conductor run` as people start it, with a handler that notes when it is entered, and a submitter beside it."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psycopg

from benchmarks.latency import noting
from switchyard.ledger import migrate
from tests.deployment import configuration

ROOT = Path(__file__).parent.parent.parent
ARMED = (
    "select exists (select from pg_locks where locktype = 'advisory' and classid = 1937204078 and granted)"
)
SUBMIT = "insert into switchyard.action (action_name) values ('noted') returning action_uuid"


@contextmanager
def conducting(url: str, kind: str, folder: Path) -> Iterator[None]:
    """A conductor that sleeps on its bell; at the end it is stopped, and has written its notes."""
    noting.installed(folder)
    file = folder / "switchyard.yaml"
    config = {
        "conductor": {"health": {"port": None}},
        "actions": {"noted": {"type": kind}},
    }
    configuration.write(file, config)
    environ = {
        **os.environ,
        "DATABASE_URL": url,
        "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}",
        noting.NOTES: str(folder / "notes"),
    }
    command: list[str | Path] = [Path(sys.executable).parent / "conductor", "run", "-c", file]
    with subprocess.Popen(command, env=environ, stderr=subprocess.DEVNULL) as child:
        try:
            _until_armed(url, child)
            yield
        finally:
            child.send_signal(signal.SIGTERM)


def _until_armed(url: str, child: "subprocess.Popen[bytes]") -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        while connection.execute(ARMED).fetchone() != (True,):
            assert child.poll() is None, "the conductor ended"
            time.sleep(0.05)


def submitted(url: str, count: int, every: float) -> dict[str, float]:
    """When each commit returned, one insert after the other."""
    committed = {}
    with psycopg.connect(url, autocommit=True) as connection:
        for _ in range(count):
            row = connection.execute(SUBMIT).fetchone()
            now = time.monotonic()
            assert row is not None
            committed[str(row[0])] = now
            time.sleep(every)
    return committed


def measured(kind: str) -> Callable[[str, int, float], Sequence[float]]:
    """Milliseconds from each commit to the entry of a handler of that kind."""

    def measure(url: str, count: int, every: float) -> Sequence[float]:
        migrate.upgrade(url)
        with tempfile.TemporaryDirectory(prefix="switchyard-bench-") as name:
            folder = Path(name)
            with conducting(url, kind, folder):
                time.sleep(1)
                committed = submitted(url, count, every)
                time.sleep(1)
            entered = json.loads((folder / "notes").read_text())
        return [(entered[uuid] - at) * 1000 for uuid, at in committed.items()]

    return measure
