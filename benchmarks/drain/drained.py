"""One drain: from the start until nothing is left."""

import time

import psycopg

from benchmarks import effort
from benchmarks.drain.contestants import Contestant
from benchmarks.server import settle_down
from tests.parts.postgres import Server

PATIENCE = 300.0


def drained(who: Contestant, on: Server, url: str, count: int, processes: int) -> tuple[float, float]:
    """Actions per second, and microseconds of CPU time per action, of the server and of the clients."""
    settle_down(url)
    who.start(url, processes)
    try:
        with psycopg.connect(url, autocommit=True) as watch:
            pids = [on.process.pid, *(child.pid for child in who.running)]
            began, spent = time.monotonic(), effort.seconds(pids)
            who.go(url)
            while watch.execute(who.left).fetchone() != (False,):
                time.sleep(0.02)
                assert time.monotonic() - began < PATIENCE, f"{who.name} does not end"
            took = time.monotonic() - began
            return count / took, (effort.seconds(pids) - spent) / count * 1e6
    finally:
        who.stop()
