"""P4: signed webhooks a second through the handler, beside a bare aiohttp loop to the same server, in turns.

    python -m benchmarks.http.deliver [--rounds 5] [--count 3000] [--soak 200000]

The handler renders, signs, vets, sends, judges, and keeps every transcript durably; the bare loop posts the
same JSON and reads the answer. `--soak` delivers that many more and prints the resident memory on the way.
"""

import argparse
import asyncio
import base64
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from uuid import uuid4

import aiohttp

from conductor.handler import HandlerContext, Work
from conductor.handlers.http import HttpHandler
from switchyard.config.actions.http import HttpAction
from switchyard.outcome import Success
from switchyard.store import open_store

IN_FLIGHT = 50
PARAMETERS = {"total": 12.5, "status": "SUCCESSFUL", "items": list(range(20)), "note": "x" * 300}


@asynccontextmanager
async def receiver() -> AsyncIterator[str]:
    """A server process; its URL."""
    command = [sys.executable, "-m", "benchmarks.http.server"]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    assert process.stdout is not None
    assert process.stdin is not None
    yield f"http://127.0.0.1:{(await process.stdout.readline()).decode().strip()}/hook"
    process.stdin.close()
    await process.wait()


async def timed(count: int, deliver: Callable[[], Awaitable[None]]) -> float:
    """Deliveries a second, IN_FLIGHT at once."""
    left = iter(range(count))

    async def slot() -> None:
        for _ in left:
            await deliver()

    began = time.perf_counter()
    await asyncio.gather(*(slot() for _ in range(IN_FLIGHT)))
    return count / (time.perf_counter() - began)


def webhook(url: str) -> HttpAction:
    """The action that a deployment would have."""
    return HttpAction.model_validate(
        {
            "concurrency": IN_FLIGHT,
            "allow_networks": ["127.0.0.0/8"],
            "request": {
                "url": url,
                "headers": {"Authorization": "Bearer {{ secrets.partner }}"},
                "body": {
                    "id": "{{ action.uuid }}",
                    "status": "{{ parameters.status }}",
                    "data": "{{ parameters }}",
                },
                "sign": {"secrets": ["env:BENCH_SECRET"]},
            },
            "responses": [{"status": "200-299", "path": "$.ok", "outcome": "success"}, {"outcome": "failed"}],
        }
    )


def work() -> Work:
    """One claimed action."""
    return Work(uuid4(), 1, 1, False, "webhook", None, None, None, PARAMETERS, "corr", datetime.now(UTC))


def resident() -> float:
    """MiB of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


async def measure(rounds: int, count: int, soak: int) -> dict[str, object]:
    """Both sides in turns."""
    os.environ["BENCH_SECRET"] = "whsec_" + base64.b64encode(bytes(range(32))).decode()
    async with receiver() as url:
        with tempfile.TemporaryDirectory() as folder:
            config = SimpleNamespace(correlation_header="x-cdp-request-id")
            context = HandlerContext(config, open_store(f"file://{folder}"), {"partner": "a-partner-token"})
            handler = HttpHandler("webhook", webhook(url), context)
            await handler.start()
            async with aiohttp.ClientSession() as session:

                async def bare() -> None:
                    body = {"id": str(uuid4()), "status": PARAMETERS["status"], "data": PARAMETERS}
                    async with session.post(url, json=body) as response:
                        assert response.status == 200
                        await response.read()

                async def ours() -> None:
                    outcome = await handler.dispatch(work())
                    assert isinstance(outcome, Success), outcome
                    assert "transcript" in outcome.detail, outcome

                await timed(count // 5, bare)
                await timed(count // 5, ours)
                pairs = [(await timed(count, bare), await timed(count, ours)) for _ in range(rounds)]
                memory = [resident()]
                for _ in range(soak // 20_000):
                    await timed(20_000, ours)
                    memory.append(resident())
            await handler.close()
    return {
        "bare_per_s": round(statistics.median(bare for bare, _ in pairs)),
        "handler_per_s": round(statistics.median(ours for _, ours in pairs)),
        "ratio": round(statistics.median(ours / bare for bare, ours in pairs), 3),
        "ratios": [round(ours / bare, 3) for bare, ours in pairs],
        "resident_mib": [round(size, 1) for size in memory],
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--soak", type=int, default=0)
    print(json.dumps(asyncio.run(measure(**vars(parser.parse_args()))), indent=2))


if __name__ == "__main__":
    main()
