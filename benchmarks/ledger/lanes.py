"""Names with lanes and limits beside names without: draining no-ops, webhook-like work, and one behind many.

python -m benchmarks.ledger.lanes --actions 40000 --rounds 3
"""

import argparse
import asyncio
import json
import statistics
import time
from typing import Any

import psycopg

from benchmarks.report import Figure, publish
from benchmarks.server import fresh, server, settle_down
from conductor.limits.served_name import ServedName
from conductor.metrics import ConductorMetrics
from conductor.registry import Identity
from conductor.worker.worker import Worker, WorkerContext
from switchyard.backends.noop.handler import NoopHandler
from switchyard.backends.noop.model import NoopAction
from switchyard.config.config import Config
from switchyard.config.daemons import Conductor, Workers
from switchyard.config.flows import flows_of
from switchyard.handlers import Handler, HandlerContext, Outcome, Success, Work
from switchyard.ledger import migrate

NAME = "work"
FILL = """insert into switchyard.action (action_name, lane) select %s, 'lane ' || (n %% %s) from generate_series(1, %s) as n"""
CLAIM = "select uuids, lock_ids from switchyard.lane_claim('work', %s, %s)"
END = """insert into switchyard.event (action_uuid, status, run, attempt, source)
  select u, 'SUCCESSFUL', 1, 1, 'conductor' from unnest(%s::uuid[]) as u"""


class Slow:
    """A webhook that takes 20 ms."""

    async def start(self) -> None:
        """Nothing to open."""

    async def dispatch(self, _: Work, /) -> Outcome:
        await asyncio.sleep(0.02)
        return Success()

    async def close(self) -> None:
        """Nothing to close."""


def prepared(url: str, limits: dict[str, Any] | None, lanes: int, actions: int) -> ServedName:
    """A database with this many actions, and the name as it is served."""
    migrate.upgrade(url)
    action: dict[str, Any] = {"type": "noop", "concurrency": 200} | ({"limits": limits} if limits else {})
    config = Config.model_validate({"actions": {NAME: action}})
    flows = flows_of(config, NAME)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("select switchyard.announce_flows(%s)", [json.dumps(flows)])
        connection.execute(FILL, [NAME, lanes, actions])
    settle_down(url)
    model = NoopAction.model_validate(action)
    handler: Handler = NoopHandler(NAME, model, HandlerContext(config=None, store=None, secrets={}))
    return ServedName(NAME, model, handler, ConductorMetrics(), flows=[flow["flow"] for flow in flows])


def drained(url: str, served: ServedName, workers: int, **settings: Any) -> float:
    """Seconds that the workers take for all of it."""

    async def run() -> float:
        shared = Conductor.model_validate(settings)
        context = WorkerContext(url, shared, Workers(), Identity("bench", None, "hash"), once=True)
        began = time.perf_counter()
        await asyncio.gather(*(Worker(served, context).run() for _ in range(workers)))
        return time.perf_counter() - began

    return asyncio.run(run())


def slow(served: ServedName) -> ServedName:
    """The same name with webhook-like work instead."""
    served.handler, served.batch_handler = Slow(), None
    return served


def one_behind_many(url: str, many: int, rounds: int) -> list[float]:
    """Milliseconds from the commit of one action in a lane of its own to its claim, behind many in another."""
    prepared(url, {"per_lane": {"in_flight": 5}}, 1, many)
    took: list[float] = []
    with psycopg.connect(url, autocommit=True, prepare_threshold=0) as connection:
        held = _claim(connection, 5, [])
        for number in range(rounds):
            connection.execute("select switchyard.submit(%s, lane => %s)", [NAME, f"B {number}"])
            began = time.perf_counter()
            found = _claim(connection, 5, held)
            took.append((time.perf_counter() - began) * 1000)
            assert len(found) == 1, "it was not the next"
            connection.execute(END, [found])
            connection.execute(
                "select pg_advisory_unlock(switchyard.uuid_lock(u)) from unnest(%s::uuid[]) as u", [found]
            )
    return took


def _claim(connection: psycopg.Connection[Any], wanted: int, held: list[Any]) -> list[Any]:
    [(uuids, _)] = connection.execute(CLAIM, [wanted, held]).fetchall()
    return list(uuids)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--actions", type=int, default=40_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--behind", type=int, default=100_000)
    chosen = parser.parse_args()
    lanes = {"per_lane": {"in_flight": 50}}
    small = chosen.actions // 4
    noop: dict[str, list[float]] = {"plain": [], "lanes": []}
    hook: dict[str, list[float]] = {"plain": [], "lanes": []}
    with server() as postgres:
        for _ in range(chosen.rounds):
            for kind, limits in (("plain", None), ("lanes", lanes)):
                served = prepared(url := fresh(postgres), limits, 1000, chosen.actions)
                noop[kind].append(chosen.actions / drained(url, served, 1, batch=500))
            for kind, limits in (("plain", None), ("lanes", lanes)):
                served = slow(prepared(url := fresh(postgres), limits, 1000, small))
                hook[kind].append(small / drained(url, served, 2, batch=200))
        behind = one_behind_many(fresh(postgres), chosen.behind, 100)
    publish("Lanes", [
        Figure("no-ops without limits", statistics.median(noop["plain"]), "actions/s"),
        Figure("no-ops, 1,000 lanes of 50", statistics.median(noop["lanes"]), "actions/s"),
        Figure("no-ops, ratio", statistics.median(noop["lanes"]) / statistics.median(noop["plain"]), "x", at_least=0.6),
        Figure("20 ms each, without limits", statistics.median(hook["plain"]), "actions/s"),
        Figure("20 ms each, 1,000 lanes of 50", statistics.median(hook["lanes"]), "actions/s"),
        Figure("20 ms each, ratio", statistics.median(hook["lanes"]) / statistics.median(hook["plain"]), "x", at_least=0.9),
        Figure(f"one behind {chosen.behind:,} of another lane, p99", sorted(behind)[98], "ms", at_most=50),
    ])  # fmt: skip


if __name__ == "__main__":
    main()
