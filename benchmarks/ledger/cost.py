"""What one action costs, by kind: processor time of Postgres and of the programs, WAL, and bytes on disk.

    python -m benchmarks.ledger.cost [--actions 20000] [--workflows 200]

Each kind is submitted in bulk on a fresh database and worked off by a spawned conductor (and caboose). WAL is
what the server wrote from before the submission until everything ended; disk is the growth of all tables and
indexes of the schema, and of the store. docs/scaling.md is computed from these figures.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, LiteralString

import psycopg
from psycopg.types.json import Jsonb

from benchmarks import effort
from benchmarks.http.bare import receiver
from benchmarks.http.webhook import ENVIRONMENT, PARAMETERS, action
from benchmarks.report import Figure, publish
from benchmarks.server import fresh, server
from switchyard.ledger import migrate
from tests.deployment import configuration

BIN = Path(sys.executable).parent
SUBMIT = (
    "insert into switchyard.action (action_name, workflow, action_type, parameters)"
    " select %(name)s, %(workflow)s, case when %(workflow)s::text is null then 'callback' else 'workflow' end,"
    " %(parameters)s from generate_series(1, %(count)s)"
)
DONE = "select count(*) from switchyard.thread where status = 'SUCCESSFUL'"
WAL = "select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint"
DISK = (
    "select sum(pg_total_relation_size(oid))::bigint from pg_class"
    " where relnamespace = 'switchyard'::regnamespace and relkind = 'r'"
)
WORKERS = "select count(*) from switchyard.worker"
ACTION_NAMES = 3  # each has a worker of the conductor; a caboose has one
PATIENCE = 600.0


@dataclass(frozen=True)
class Kind:
    """What is submitted, how often, by which programs it is worked off, and how many actions that makes."""

    title: str
    count: int
    name: str
    programs: tuple[str, ...] = ("conductor",)
    workflow: str | None = None
    makes: int = 1


def content(folder: Path, url: str) -> dict[str, Any]:
    """A no-op, a webhook, and a workflow with a no-op as its callback."""
    called_back = {"name": "after", "action": "noop", "when": ["SUCCESSFUL"]}
    local = {"type": "local", "spool": str(folder / "spool"), "concurrency": 20}
    return {
        "secrets": {"partner": "env:BENCH_PARTNER"},
        "actions": {
            "noop": {"type": "noop"},
            "webhook": {"type": "http", **action(url, 200)},
            "local": local,
        },
        "workflows": {"flow": {"action": "local", "template": ["/bin/true"], "callbacks": [called_back]}},
    }


def measured(kind: Kind, url: str) -> list[Figure]:
    """Its figures, per action; the programs have started before."""
    with server() as on, tempfile.TemporaryDirectory(prefix="switchyard-cost-") as place:
        database, folder = fresh(on), Path(place)
        migrate.upgrade(database)
        file = configuration.write(folder / "switchyard.yaml", content(folder, url))
        environ = {**os.environ, **ENVIRONMENT, "DATABASE_URL": database}
        with (
            psycopg.connect(database, autocommit=True) as ledger,
            _running(kind, ledger, file, environ) as pids,
        ):
            before, cpu, spent = _server(ledger), effort.seconds([on.process.pid]), effort.seconds(pids)
            values = {"name": kind.name, "workflow": kind.workflow, "parameters": Jsonb(PARAMETERS)}
            ledger.execute(SUBMIT, {**values, "count": kind.count})
            _until(ledger, DONE, kind.count * kind.makes)
            after, cpu = _server(ledger), effort.seconds([on.process.pid]) - cpu
            spent = effort.seconds(pids) - spent
        stored = sum(each.stat().st_size for each in (folder / "store").rglob("*") if each.is_file())
    actions = kind.count * kind.makes
    return [
        Figure(f"{kind.title}: Postgres", cpu / actions * 1e6, "us CPU/action"),
        Figure(f"{kind.title}: programs", spent / actions * 1e6, "us CPU/action"),
        Figure(f"{kind.title}: WAL", (after[0] - before[0]) / actions, "bytes/action"),
        Figure(f"{kind.title}: tables and indexes", (after[1] - before[1]) / actions, "bytes/action"),
        Figure(f"{kind.title}: store", stored / actions, "bytes/action"),
    ]


@contextmanager
def _running(
    kind: Kind, ledger: psycopg.Connection[Any], file: Path, environ: dict[str, str]
) -> Iterator[list[int]]:
    """The programs, once each of their workers has registered; their process ids."""
    programs = [
        subprocess.Popen([BIN / program, "run", "-c", file], env=environ, stderr=subprocess.DEVNULL)
        for program in kind.programs
    ]
    try:
        _until(ledger, WORKERS, ACTION_NAMES + len(programs) - 1)
        yield [program.pid for program in programs]
    finally:
        for program in programs:
            program.terminate()
        for program in programs:
            program.wait(60)


def _until(ledger: psycopg.Connection[Any], counting: LiteralString, expected: int) -> None:
    began = time.monotonic()
    while ledger.execute(counting).fetchone() != (expected,):
        assert time.monotonic() - began < PATIENCE, f"{counting} does not become {expected}"
        time.sleep(0.5)


def _server(ledger: psycopg.Connection[Any]) -> tuple[int, int]:
    wal, disk = ledger.execute(WAL).fetchone(), ledger.execute(DISK).fetchone()
    assert wal is not None
    assert disk is not None
    return int(wal[0]), int(disk[0])


async def main() -> None:
    """Every kind in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--actions", type=int, default=20_000)
    parser.add_argument("--workflows", type=int, default=200)
    chosen = parser.parse_args()
    both = ("conductor", "caboose")
    kinds = [
        Kind("no-op", chosen.actions, "noop"),
        Kind("webhook", chosen.actions, "webhook"),
        Kind("workflow and callback", chosen.workflows, "local", both, "flow", makes=2),
    ]
    async with receiver() as url:
        found = [figure for kind in kinds for figure in await asyncio.to_thread(measured, kind, url)]
    publish("What an action costs", found)


if __name__ == "__main__":
    asyncio.run(main())
