"""P4 without the ledger: signed webhooks a second through the handler alone, beside a bare aiohttp loop.

    python -m benchmarks.http.deliver [--rounds 15] [--count 500]

The handler renders, signs, vets, sends, judges, and keeps every transcript durably; the bare loop makes,
signs and posts the same request, and reads the answer. `benchmarks.http.conduct` has the whole conductor.
"""

import argparse
import asyncio
import json
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import cast
from uuid import uuid4

from benchmarks.http.bare import Turn, bare_loop, receiver
from benchmarks.http.webhook import CORRELATION, ENVIRONMENT, PARAMETERS, PARTNER, action
from conductor.action import ClaimedAction
from conductor.dispatch.pipeline import Pipeline
from conductor.limits.served_name import ServedName
from conductor.metrics import ConductorMetrics
from conductor.registry import Registration
from conductor.session.session import Session
from switchyard.backends.http.handler import HttpHandler
from switchyard.backends.http.model import HttpAction
from switchyard.handlers import HandlerContext, Work
from switchyard.store import open_store

IN_FLIGHT = 50


async def timed(count: int, handler: HttpHandler, configured: HttpAction) -> Turn:
    """Deliver `count`, IN_FLIGHT at once; the actions are there before the clock starts."""
    left = [work() for _ in range(count)]
    ended = asyncio.Event()
    served = ServedName("webhook", configured, handler, ConductorMetrics())
    pipeline = Pipeline(cast("Session", None), served, cast("Registration", None), IN_FLIGHT, ended.set)
    table = pipeline.table
    began, cpu = time.perf_counter(), time.process_time()
    while left or len(table):
        while left and len(table) < IN_FLIGHT:
            one = left.pop()
            claimed = ClaimedAction(one.uuid, 1, 1, 0, one)
            table.add([claimed])
            pipeline.run([claimed])
        await ended.wait()
        ended.clear()
        done = table.take(decided=True, blocked=False)
        check(done)
        table.remove(done)
    return Turn(count / (time.perf_counter() - began), (time.process_time() - cpu) / count * 1e6)


def check(actions: Sequence[ClaimedAction]) -> None:
    """Every delivery succeeded and has its transcript."""
    for one in actions:
        assert one.event.status == "SUCCESSFUL", one.event
        assert '"transcript"' in (one.event.detail or ""), one.event


# What a deployment would have beside the defaults.
RESPONSES = [
    {"status": "200-299", "outcome": "success"},
    {"status": 409, "path": "$.error", "matches": "already exists", "outcome": "success"},
    {"status": [408, 429, "500-599"], "outcome": "retry"},
    {"outcome": "failed"},
]


def work() -> Work:
    """One claimed action."""
    return Work(uuid4(), 1, 1, False, "webhook", None, None, None, PARAMETERS, CORRELATION, datetime.now(UTC))


async def measure(rounds: int, count: int) -> dict[str, object]:
    """Both sides in short turns, so that other load on the machine affects both alike."""
    os.environ.update(ENVIRONMENT)
    async with receiver() as url, bare_loop(url, IN_FLIGHT) as bare:
        with tempfile.TemporaryDirectory() as folder:
            config = SimpleNamespace(correlation_header="x-cdp-request-id")
            context = HandlerContext(config, open_store(f"file://{folder}"), {"partner": PARTNER})
            written = {**action(url, IN_FLIGHT), "responses": RESPONSES}
            configured = HttpAction.model_validate(written)
            handler = HttpHandler("webhook", configured, context)
            await handler.start()
            turns = [
                (await bare.post(count), await timed(count, handler, configured)) for _ in range(rounds + 1)
            ]
            await handler.close()
    return report(turns[1:])  # the first warms up


def report(turns: list[tuple[Turn, Turn]]) -> dict[str, object]:
    """Medians over the turns; the ratio is that of neighbouring turns."""
    median = statistics.median
    return {
        "bare_per_s": round(median(bare.rate for bare, _ in turns)),
        "handler_per_s": round(median(ours.rate for _, ours in turns)),
        "ratio": round(median(ours.rate / bare.rate for bare, ours in turns), 3),
        "bare_cpu_us": round(median(bare.cpu for bare, _ in turns)),
        "handler_cpu_us": round(median(ours.cpu for _, ours in turns)),
        "cpu_ratio": round(median(bare.cpu / ours.cpu for bare, ours in turns), 3),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--count", type=int, default=500)
    print(json.dumps(asyncio.run(measure(**vars(parser.parse_args()))), indent=2))


if __name__ == "__main__":
    main()
