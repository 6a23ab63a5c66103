"""Hostile neighbours: rows, locks, backends, files and databases of others, on the action names that everybody uses.

Everything that they submit has the correlation id MARK. Its end is not checked beyond that it has one: it may be
refused, invalid or failed. What the campaign checks is everybody else.
"""

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import LiteralString
from uuid import UUID

import psycopg
from psycopg import sql

from switchyard.ledger import migrate
from tests.deployment import configuration
from tests.faults.inject.strike import Heal, Missed, over
from tests.faults.plan import Fault
from tests.faults.yard import Yard
from tests.parts.database import Database

MARK = "neighbour"
COPY = "neighbour"
STARTING = 15.0  # a program that read the wrong file at its start may take so long to give up

# Parameters that Postgres accepts, or refuses by a constraint, and that a program may stumble over.
POISON: Sequence[LiteralString] = (
    """('{"how": ' || repeat('[', 900) || repeat(']', 900) || '}')::jsonb""",
    """('{"how": ' || repeat('9', 5000) || '}')::jsonb""",
    """'{"how": 1e400}'""",
    """jsonb_build_object('how', repeat('x', 2000000))""",
    """(select jsonb_object_agg('key' || n, n) from generate_series(1, 20000) as n)""",
    """'{}'""",
    """'{"how": null}'""",
    """'{"how": {"a": [[], {}]}}'""",
    """jsonb_build_object('how', U&'\\FFFF\\0001\\200B')""",
)
INSERT = sql.SQL(
    "insert into switchyard.action (action_name, correlation_id, parameters)"
    " select %s, %s, {} from generate_series(1, %s) returning action_uuid"
)
HOLD = "select from switchyard.thread where action_uuid = any(%s) for update"
MARK_LOST = """
    with silent as (select array_agg(worker_id) as workers, array_agg(beat_at) as beats from switchyard.worker)
    select kind, worker_id from silent, switchyard.mark_lost(silent.workers, silent.beats) where terminated
"""
WORKERS = (
    "select worker_id, kind, action_name, host, backend_pid from switchyard.worker where ended_at is null"
)


def poison(yard: Yard, fault: Fault) -> Heal:
    """Odd rows of every kind, among the others of an action name."""
    name = "often" if fault.amount < 0.5 else "drill"
    for parameters in POISON:
        with suppress(psycopg.DataError, psycopg.IntegrityError):  # refused by a constraint: as well
            insert(yard, name, 2, parameters)
    return over


def hold_rows(yard: Yard, fault: Fault) -> Heal:
    """Somebody keeps rows of threads locked in a transaction."""
    uuids = insert(yard, "drill", 10)
    try:
        connection = yard.database.connect(autocommit=False)
        connection.execute(HOLD, [uuids])
    except psycopg.OperationalError:
        raise Missed from None
    return connection.close


def freeze_receiver(yard: Yard, fault: Fault) -> Heal:
    """A backend that takes every request and answers none in time, with more work than it has slots."""
    insert(yard, "frozen", 40, """'{"how": "hang"}'""")
    return over


def misconfigure(yard: Yard, fault: Fault) -> Heal:
    """The file is wrong for a while: programs keep the last good configuration."""
    yard.misconfigured_until = float("inf")
    yard.file.write_text("actions: {often: {type: nonsense}}\n" if fault.amount < 0.5 else "")

    def heal() -> None:
        configuration.write(yard.file, yard.config)
        yard.misconfigured_until = time.monotonic() + STARTING

    return heal


def copy_database(yard: Yard, fault: Fault) -> Heal:
    """A copy on the same server, whose conductor misses the workers that it knows: none of them may be ended."""
    try:
        copied = Database(COPY, yard.server.url(COPY))
        if not yard.database.execute("select 1 from pg_database where datname = %s", COPY):
            yard.database.execute(f"create database {COPY}")
            migrate.upgrade(copied.url)
        copied.execute("delete from switchyard.worker")
        for row in yard.database.execute(WORKERS):
            copied.execute(
                "insert into switchyard.worker (worker_id, kind, action_name, host, backend_pid)"
                " values (%s, %s, %s, %s, %s)",
                *row,
            )
        ended = copied.execute(MARK_LOST)
    except psycopg.OperationalError:
        raise Missed from None
    yard.trespasses += [f"a copy of the database ended the sessions of {kind} {who}" for kind, who in ended]
    return over


def server_clock_jump(yard: Yard, fault: Fault) -> Heal:
    """The database server's wall clock jumps by up to four minutes, ahead or back; then it is put right.

    Less than the timeout of any workflow: for how long one has run is measured by this clock.
    """
    assert yard.server_clock is not None
    clock = yard.server_clock
    clock.shift(int((fault.amount - 0.5) * 480))
    yard.receivers.lapse()

    def heal() -> None:
        clock.shift(0)
        yard.receivers.lapse()

    return heal


def insert(yard: Yard, name: str, count: int, parameters: LiteralString = "'{}'") -> list[UUID]:
    try:
        with yard.database.connect() as connection:
            rows = connection.execute(INSERT.format(sql.SQL(parameters)), [name, MARK, count]).fetchall()
    except psycopg.OperationalError:
        raise Missed from None
    return [row[0] for row in rows]
