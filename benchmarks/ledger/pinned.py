"""A steady load beside a snapshot that stays open: claims must not become slower.

python -m benchmarks.ledger.pinned --seconds 600 --rate 2000

One session submits at the rate, another claims, ends and unlocks. First for a while without the snapshot, then
for `--seconds` with a repeatable-read transaction open, then until claims are as fast as before. While it is
open, at the end: how long until each of the four that enter behind the position of a claim is dispatched.
"""

import argparse
import statistics
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import psycopg

from benchmarks.report import Figure, publish
from benchmarks.server import fresh, server
from switchyard.ledger import migrate

BATCH = 100
SHOWN = 30  # seconds between two lines about the progress
SUBMIT = "insert into switchyard.action (action_name) select 'noop' from generate_series(1, %s)"
CLAIM = "select uuids, runs, attempts, lock_ids from switchyard.claim('noop', %s)"
END = """insert into switchyard.event (action_uuid, status, run, attempt, source)
  select u, 'SUCCESSFUL', r, a + 1, 'conductor' from unnest(%s::uuid[], %s::int[], %s::int[]) as x (u, r, a)"""
UNLOCK = "select switchyard.unlock(%s)"
Connection = psycopg.Connection[Any]


class Load:
    """Submits at a rate until it is stopped."""

    def __init__(self, url: str, rate: int) -> None:
        self._url = url
        self._rate = rate
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        with psycopg.connect(self._url, autocommit=True) as connection:
            began, sent = time.perf_counter(), 0
            while not self._stopped.wait(0.01):
                due = int((time.perf_counter() - began) * self._rate) - sent
                connection.execute(SUBMIT, [due])
                sent += due


class Worker:
    """Claims, ends and unlocks; remembers when each action was claimed only for those that are looked for."""

    def __init__(self, url: str) -> None:
        self._connection = psycopg.connect(url, autocommit=True, prepare_threshold=0)
        self.seconds: list[tuple[float, float]] = []  # when a claim began, and how long it took
        self.done = 0
        self.seen: dict[UUID, float] = {}
        self.wanted: set[UUID] = set()

    def work_for(self, seconds: float) -> tuple[int, list[float]]:
        """How many were done, and the durations of the claims."""
        until, before, first = time.perf_counter() + seconds, self.done, len(self.seconds)
        while time.perf_counter() < until:
            self.turn()
        return self.done - before, [took for _, took in self.seconds[first:]]

    def turn(self) -> None:
        """One claim with all that follows."""
        began = time.perf_counter()
        row: Any = self._connection.execute(CLAIM, [BATCH]).fetchone()
        self.seconds.append((began, time.perf_counter() - began))
        if row[0]:
            for uuid in self.wanted.intersection(row[0]):
                self.seen[uuid] = time.perf_counter()
            self._connection.execute(END, row[:3])
            self._connection.execute(UNLOCK, [row[3]])
            self.done += len(row[0])
        else:
            time.sleep(0.005)  # as a worker that looks again every few milliseconds


def shown_work(worker: Worker, seconds: float) -> None:
    """Work for that time, and print from time to time how fast claims are."""
    left = seconds
    while left > 0:
        done, claims = worker.work_for(min(left, SHOWN))
        left -= SHOWN
        rate = done / min(SHOWN, seconds)
        print(
            f"{rate:,.0f}/s, claim p99 {p99(claims):.1f} ms, {max(0, left):.0f} s left",
            file=sys.stderr,
            flush=True,
        )


def p99(seconds: list[float]) -> float:
    """Milliseconds."""
    return statistics.quantiles(seconds, n=100)[98] * 1000


@contextmanager
def snapshot(url: str) -> Iterator[None]:
    """A transaction that has read once and stays open."""
    with psycopg.connect(url) as holder:
        holder.execute("set transaction isolation level repeatable read")
        holder.execute("select count(*) from switchyard.yard")
        yield


def behind(url: str, worker: Worker) -> dict[str, float]:
    """Milliseconds from the moment when each could be claimed until it was."""
    found: dict[str, float] = {}
    with psycopg.connect(url) as late, psycopg.connect(url, autocommit=True) as other:
        [(uuid,)] = late.execute("select switchyard.submit('noop')").fetchall()
        worker.work_for(0.5)
        late.commit()
        found["late commit"] = _until_seen(worker, uuid)
        other.execute("insert into switchyard.event (action_uuid, status, run, attempt) "
                      "select action_uuid, 'CANCELED', 1, 0 from switchyard.submit('noop', start_after => now() + interval '1 h') as s (action_uuid)")  # fmt: skip
        [(uuid,)] = other.execute(
            "select action_uuid from switchyard.thread where status = 'CANCELED'"
        ).fetchall()
        worker.work_for(0.5)
        other.execute("select switchyard.retrigger(%s, 'bench', 'again')", [uuid])
        found["retrigger"] = _until_seen(worker, uuid)
        [(uuid,)] = other.execute(
            "select switchyard.submit('noop', start_after => now() + interval '0.5 s')"
        ).fetchall()
        due = time.perf_counter() + 0.5
        worker.wanted.add(uuid)
        worker.work_for(0.5)
        _until_seen(worker, uuid)
        found["due backoff"] = (worker.seen[uuid] - due) * 1000
        [(uuid,)] = other.execute("select switchyard.submit('noop', priority => 1)").fetchall()
        found["higher priority"] = _until_seen(worker, uuid)
    return found


def _until_seen(worker: Worker, uuid: UUID) -> float:
    began = time.perf_counter()
    worker.wanted.add(uuid)
    while uuid not in worker.seen:
        worker.turn()
        assert time.perf_counter() - began < 30, "it was not dispatched within 30 s"
    return (worker.seen[uuid] - began) * 1000


def recovery(worker: Worker, usual: float) -> float:
    """Seconds until a second's claims are as fast as before."""
    began = time.perf_counter()
    while time.perf_counter() - began < 60:
        if p99(worker.work_for(1)[1]) <= 2 * usual:
            return time.perf_counter() - began - 1
    return 60.0


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--rate", type=int, default=2000)
    chosen = parser.parse_args()
    part = max(5, chosen.seconds // 10)
    with server() as postgres:
        url = fresh(postgres)
        migrate.upgrade(url)
        worker = Worker(url)
        with Load(url, chosen.rate):
            worker.work_for(part)
            without, usual = worker.work_for(part)
            with snapshot(url):
                _, first = worker.work_for(part)
                shown_work(worker, max(0, chosen.seconds - 2 * part))
                done, last = worker.work_for(part)
                found = behind(url, worker)
            recovered = recovery(worker, p99(first))
    publish("Old snapshot", [
        Figure("actions ended beside it", worker.done, ""),
        Figure("claim p99, before", p99(usual), "ms"),
        Figure("claim p99, first tenth", p99(first), "ms"),
        Figure("claim p99, last tenth", p99(last), "ms"),
        Figure("claim p99, last to first", p99(last) / p99(first), "x", at_most=2),
        Figure("throughput, last tenth to before", done / without, "x", at_least=0.9),
        Figure("recovered after it closed", recovered, "s", at_most=5),
        *(Figure(f"{what}, until dispatched", took, "ms", at_most=100) for what, took in found.items()),
    ])  # fmt: skip


if __name__ == "__main__":
    main()
