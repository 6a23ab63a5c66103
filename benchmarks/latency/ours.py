"""The conductor with a handler that notes when it is entered, and a submitter in a process of its own.

python -m benchmarks.latency.ours serve URL    prints "ready", then uuid and time of each dispatch
"""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Sequence

import psycopg

from conductor.handler import Batch
from conductor.handlers.noop import NoopHandler
from conductor.line import Line
from conductor.metrics import ConductorMetrics
from conductor.registry import Identity
from conductor.worker import Station, Worker
from switchyard.config.actions.noop import NoopAction
from switchyard.config.conductor import Conductor
from switchyard.config.workers import Workers
from switchyard.ledger import migrate
from switchyard.outcome import Outcome


class Noting(NoopHandler):
    """noop that remembers when each action came."""

    def __init__(self) -> None:
        super().__init__("noop", None, None)  # type: ignore[arg-type]  # noop looks at neither
        self.entered: dict[str, float] = {}

    def dispatch_all(self, batch: Batch, /) -> Outcome:
        now = time.monotonic()
        outcome = super().dispatch_all(batch)
        self.entered |= dict.fromkeys(map(str, batch.uuids), now)
        return outcome


async def serve(url: str) -> None:
    """Until a line comes on stdin; then print what was seen."""
    handler = Noting()
    line = Line("noop", NoopAction(), handler, ConductorMetrics())
    worker = Worker(line, Station(url, Conductor(), Workers(), Identity("bench", None, "bench")))
    task = asyncio.create_task(worker.run())
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    worker.stop()
    await task
    print(json.dumps(handler.entered))


def submitted(url: str, count: int, every: float) -> dict[str, float]:
    """When each commit returned, one insert after the other."""
    committed = {}
    with psycopg.connect(url, autocommit=True) as connection:
        for _ in range(count):
            row = connection.execute(
                "insert into switchyard.action (action_name) values ('noop') returning action_uuid"
            ).fetchone()
            assert row is not None
            committed[str(row[0])] = time.monotonic()
            time.sleep(every)
    return committed


def measure(url: str, count: int, every: float) -> Sequence[float]:
    """Milliseconds from the commit to the handler."""
    migrate.upgrade(url)
    command = [sys.executable, "-m", "benchmarks.latency.ours", "serve", url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline().strip() == "ready"
        time.sleep(2)
        committed = submitted(url, count, every)
        time.sleep(1)
        out, _ = child.communicate("stop\n", timeout=30)
    entered = json.loads(out)
    return [(entered[uuid] - at) * 1000 for uuid, at in committed.items()]


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[2]))
