"""P5: 64 writers of single submits, with and without the bell; a sleeper follows its protocol in both.

python -m benchmarks.ledger.bell --seconds 5 --rounds 5
"""

import argparse
import asyncio
import multiprocessing as mp
import os
import re
import statistics
import subprocess
import tempfile
import time
from multiprocessing.synchronize import Event
from pathlib import Path

import psycopg

from benchmarks.report import Figure, publish
from benchmarks.server import fresh, server
from conductor.claim.claim import Look
from conductor.worker.wakeup import Bell
from switchyard.ledger import migrate
from tests.parts.postgres import Server

WRITERS = 64
SILENT = (
    "create or replace function switchyard.ring(action_names text[], p_ready uuid default null) "
    "returns void language plpgsql as $$ begin end $$"
)
KEY = "(1937204078, switchyard.bell_key('noop'))"


def sleeper(url: str, stop: Event, seen: "mp.Queue[tuple[int, int]]") -> None:
    """Looks, arms and sleeps as a worker does, and takes nothing: it counts rows and wake-ups."""
    asyncio.run(_sleep(url, stop, seen))


async def _sleep(url: str, stop: Event, seen: "mp.Queue[tuple[int, int]]") -> None:
    connection = await psycopg.AsyncConnection.connect(url, autocommit=True)
    rings = rows = 0
    bell = Bell(time.monotonic, listen_wait=0.02, poll=1.0)
    cursor = await connection.execute("select switchyard.bell_channel('noop')")
    row = await cursor.fetchone()
    assert row is not None
    await connection.execute(f'listen "{row[0]}"'.encode())
    while not stop.is_set():
        bell.looking()
        cursor = await connection.execute("select count(*) from switchyard.yard")
        found = await cursor.fetchone()
        assert found is not None
        bell.looked(Look(wanted=1 << 30, claimed=found[0] - rows, skipped=False, due_in=None))
        rows = found[0]
        if bell.wants_disarming():
            await connection.execute(f"select pg_advisory_unlock{KEY}".encode())
            bell.armed = False
        elif bell.wants_arming():
            cursor = await connection.execute(f"select pg_try_advisory_lock{KEY}".encode())
            got = await cursor.fetchone()
            bell.arm(got=bool(got and got[0]))
        rung, deadline = False, time.monotonic() + bell.wait()
        while not rung and time.monotonic() < deadline and not stop.is_set():
            wait = max(0.0, min(deadline - time.monotonic(), 0.2))
            async for _ in connection.notifies(timeout=wait, stop_after=1):
                rung, rings = True, rings + 1
                bell.ring()
    seen.put((rows, rings))
    await connection.close()


def commits_a_second(postgres: Server, url: str, seconds: int) -> float:
    """The output of pgbench."""
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
        script.write("select switchyard.submit('noop', '{\"n\": 1}');\n")
        script.flush()
        Path(script.name).chmod(0o644)
        done = subprocess.run(
            [postgres.binaries / "pgbench", "-n", "-c", str(WRITERS), "-j", str(os.cpu_count() or 2), "-M", "prepared",
             "-T", str(seconds), "-f", script.name, url],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    found = re.search(r"tps = ([0-9.]+)", done.stdout)
    assert found, done.stdout + done.stderr
    return float(found[1])


def one_round(postgres: Server, seconds: int, *, bell: bool) -> tuple[float, int, int]:
    """Commits a second, the rows that the sleeper saw less those written, and how often it was rung for."""
    url = fresh(postgres)
    migrate.upgrade(url)
    with psycopg.connect(url, autocommit=True) as connection:
        if not bell:
            connection.execute(SILENT)
        stop = mp.Event()
        seen: mp.Queue[tuple[int, int]] = mp.Queue()
        watcher = mp.Process(target=sleeper, args=(url, stop, seen))
        watcher.start()
        rate = commits_a_second(postgres, url, seconds)
        time.sleep(2)
        stop.set()
        rows, rings = seen.get(timeout=30)
        watcher.join()
        [(written,)] = connection.execute("select count(*) from switchyard.action").fetchall()
    return rate, written - rows, rings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    silent, ringing = [], []
    # Waiting for the disk would hide what the bell costs.
    with server(fsync="off") as postgres:
        for _ in range(chosen.rounds):
            silent.append(one_round(postgres, chosen.seconds, bell=False)[0])
            ringing.append(one_round(postgres, chosen.seconds, bell=True))
    without, with_bell = statistics.median(silent), statistics.median(rate for rate, _, _ in ringing)
    publish("P5 the bell", [
        Figure("without the bell", without, "commits/s"),
        Figure("with the bell", with_bell, "commits/s"),
        Figure("ratio", with_bell / without, "x", at_least=0.8),
        Figure("rows not seen", sum(missed for _, missed, _ in ringing), "", at_most=0),
        Figure("rings", statistics.median(rings for _, _, rings in ringing), "a round"),
    ])  # fmt: skip


if __name__ == "__main__":
    main()
