"""P4: signed webhooks per second through a whole conductor and a bare aiohttp loop to the same server, in turns.

    python -m benchmarks.http.conduct [--rounds 5] [--count 20000] [--in-flight 100 200 400] [--soak 200000]

The conductor is the spawned command with a Postgres and a store of its own, all on the same processors: it
claims, renders, signs, vets, sends, judges, keeps every transcript durably and writes every outcome. The bare
loop makes, signs and posts the same request, as many at once, and reads the answer.
A conductor's action is in flight until its outcome is committed: two durable writes after the answer. The more
in flight, the less it waits for them; the loop has nothing to wait for and is at its best with fewer. So each is
measured with several numbers in flight, and the goal is for the best of each.
`--soak` delivers that many more and prints the conductor's resident memory on the way.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import psycopg
from psycopg.types.json import Jsonb

from benchmarks import effort
from benchmarks.http.bare import Bare, Turn, bare_loop, receiver
from benchmarks.http.webhook import CORRELATION, ENVIRONMENT, PARAMETERS, action
from benchmarks.report import Figure, publish
from benchmarks.server import fresh, server
from switchyard.ledger import migrate
from tests.deployment import configuration

SUBMIT = (
    "insert into switchyard.action (action_name, parameters, correlation_id)"
    " select 'webhook', %s, %s from generate_series(1, %s)"
)
LEFT = "select exists (select from switchyard.yard where status <= 'BACKOFF')"
FAILED = (
    "select count(*) from switchyard.event where status <> 'SUCCESSFUL' or detail -> 'transcript' is null"
)
PATIENCE = 600.0
LOOK_EVERY = 0.05  # seconds; each look walks past all that is done, and the processors are shared
RATE, EFFORT = "deliveries/s", "us/delivery"
CHART = "Signed webhooks a second, beside a bare aiohttp loop"


def config(url: str, in_flight: int) -> dict[str, Any]:
    """As a deployment would have it."""
    return {
        "conductor": {"health": {"port": None}},
        "secrets": {"partner": "env:BENCH_PARTNER"},
        "actions": {"webhook": {"type": "http", **action(url, in_flight)}},
    }


@dataclass(frozen=True, slots=True)
class Pair:
    """A turn of each, and the microseconds that Postgres spent on a delivery."""

    bare: Turn
    ours: Turn
    postgres: float


class Conducting:
    """A conductor that runs, and the ledger that it serves."""

    def __init__(self, process: subprocess.Popen[bytes], ledger: psycopg.Connection[Any], pid: int) -> None:
        self.process, self._ledger, self._postgres = process, ledger, pid

    def deliver(self, count: int) -> tuple[Turn, float]:
        """This many, from the first submission to the last outcome; and the microseconds that Postgres spent on each."""
        self._ledger.execute("select switchyard.pause('webhook', 'bench', 'until all are there')")
        self._ledger.execute(SUBMIT, (Jsonb(PARAMETERS), CORRELATION, count))
        cpu, postgres = effort.seconds([self.process.pid]), effort.seconds([self._postgres])
        began = time.perf_counter()
        self._ledger.execute("select switchyard.resume('webhook', 'bench', 'go')")
        while self._ledger.execute(LEFT).fetchone() == (True,):
            assert self.process.poll() is None, "the conductor ended"
            assert time.perf_counter() - began < PATIENCE, "the deliveries do not end"
            time.sleep(LOOK_EVERY)
        rate = count / (time.perf_counter() - began)
        cpu, postgres = effort.seconds([self.process.pid]) - cpu, effort.seconds([self._postgres]) - postgres
        return Turn(rate, cpu / count * 1e6), postgres / count * 1e6

    def resident(self) -> float:
        """MiB of the conductor."""
        return float(psutil.Process(self.process.pid).memory_info().rss) / 2**20

    def check(self) -> None:
        """Every delivery succeeded and has its transcript."""
        assert self._ledger.execute(FAILED).fetchone() == (0,)


@contextmanager
def conducting(url: str, in_flight: int) -> Iterator[Conducting]:
    """`conductor run` on a fresh database, serving."""
    with server() as on, tempfile.TemporaryDirectory(prefix="switchyard-bench-") as folder:
        database = fresh(on)
        migrate.upgrade(database)
        file = Path(folder) / "switchyard.yaml"
        configuration.write(file, config(url, in_flight))
        environ = {**os.environ, **ENVIRONMENT, "DATABASE_URL": database}
        command: list[str | Path] = [Path(sys.executable).parent / "conductor", "run", "-c", file]
        process = subprocess.Popen(command, env=environ, stderr=subprocess.DEVNULL)
        try:
            with psycopg.connect(database, autocommit=True) as ledger:
                while ledger.execute("select count(*) from switchyard.worker").fetchone() != (1,):
                    assert process.poll() is None, "the conductor ended"
                    time.sleep(0.05)
                yield Conducting(process, ledger, on.process.pid)
        finally:
            process.terminate()
            process.wait(60)


async def measure(rounds: int, count: int, in_flight: list[int], soak: int) -> None:
    """All in turns, so that other load on the machine affects all alike."""
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(receiver())
        loops = [await stack.enter_async_context(bare_loop(url, many)) for many in in_flight]
        ours = [stack.enter_context(conducting(url, many)) for many in in_flight]
        for warm in (True, False):
            found = [await turn(loops, ours, count) for _ in range(1 if warm else rounds)]
        memory = [ours[-1].resident()]
        for _ in range(soak // 10_000):
            await asyncio.to_thread(ours[-1].deliver, 10_000)
            memory.append(ours[-1].resident())
        for conductor in ours:
            conductor.check()
    report(in_flight, found, memory)


async def turn(loops: list[Bare], ours: list[Conducting], count: int) -> list[Pair]:
    """Once around: each number in flight, the loop and then the conductor."""
    return [
        Pair(await loop.post(count), *await asyncio.to_thread(conductor.deliver, count))
        for loop, conductor in zip(loops, ours, strict=True)
    ]


def report(in_flight: list[int], found: list[list[Pair]], memory: list[float]) -> None:
    """Medians over the turns; the ratios are those of the same turn. The loop is also taken at its best."""
    median, figures = statistics.median, []
    for number, many in enumerate(in_flight):
        pairs = [pairs[number] for pairs in found]
        ratio = median(pair.ours.rate / pair.bare.rate for pair in pairs)
        figures += [
            Figure(f"bare loop, {many} in flight", median(p.bare.rate for p in pairs), RATE, chart=CHART),
            Figure(f"conductor, {many} in flight", median(p.ours.rate for p in pairs), RATE, chart=CHART),
            Figure(f"ratio, {many} in flight", ratio, "x"),
            Figure(f"bare loop, {many} in flight, processor", median(p.bare.cpu for p in pairs), EFFORT),
            Figure(f"conductor, {many} in flight, processor", median(p.ours.cpu for p in pairs), EFFORT),
            Figure(f"Postgres, {many} in flight, processor", median(p.postgres for p in pairs), EFFORT),
        ]
    best = [max(p.ours.rate for p in pairs) / max(p.bare.rate for p in pairs) for pairs in found]
    figures.append(Figure("ratio, each at its best", median(best), "x", at_least=0.7))
    figures.append(Figure("resident", memory[-1], "MiB"))
    if len(memory) > 1:
        # What the first 10,000 leave warm (pools, caches, arenas) is not a leak; growth after them is.
        figures.append(
            Figure("resident, growth after the first 10,000", memory[-1] - memory[1], "MiB", at_most=5)
        )
        print(json.dumps({"resident_mib": [round(size, 1) for size in memory]}))
    publish("P4 webhooks", figures)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--in-flight", type=int, nargs="+", default=[100, 200, 400])
    parser.add_argument("--soak", type=int, default=0)
    asyncio.run(measure(**vars(parser.parse_args())))


if __name__ == "__main__":
    main()
