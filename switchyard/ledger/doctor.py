"""Checks a database for problems, each with a remedy."""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from psycopg import Connection, Error
from psycopg.errors import InsufficientPrivilege
from psycopg.rows import DictRow

from switchyard.ledger.pooling import Reach, reached
from switchyard.ledger.queries import query
from switchyard.ledger.rights import rights

OLDEST, NEWEST = 15, 18
MOST_SKEW = 2.0
FEWEST_DAYS = 2.0
GRANT = "grant switchyard_worker (programs) or switchyard_admin (people) to it"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check. `advice` is the remedy where it failed."""

    check: str
    state: Literal["good", "warning", "bad"]
    found: str
    advice: str = ""


def examine(connection: Connection[DictRow], url: str) -> Iterator[Finding]:
    """Run all checks, the server first. A check that cannot run reports why, and the others still run."""
    before = time.time()
    server = _row(connection, "server")
    yield from _server(server)
    yield _clock(server["clock"] - (before + time.time()) / 2)
    yield _direct(url)
    yield _migrations(url)
    if not _row(connection, "ledger")["there"]:
        yield _may_migrate(connection)
        return
    yield _roles(connection)
    checks: dict[str, Callable[[], Finding]] = {
        "partitions": lambda: _partitions(connection),
        "locks": lambda: _locks(server, _row(connection, "workers")["slots"]),
        "configuration": lambda: _configurations(_row(connection, "workers")["configurations"]),
        "served": lambda: _served(connection),
        "lost workers": lambda: _signals(connection),
        "schedules": lambda: _schedules(connection),
        "transactions": lambda: _old_transactions(connection),
    }
    for name, check in checks.items():
        try:
            yield check()
        except Error as error:
            reason = " ".join((error.diag.message_primary or str(error)).split())
            yield Finding(name, "bad", f"could not be checked: {reason}", GRANT)


def _server(row: DictRow) -> Iterator[Finding]:
    major = row["number"] // 10000
    if OLDEST <= major <= NEWEST:
        yield Finding("server", "good", f"PostgreSQL {row['version']}")
    else:
        state: Literal["bad", "warning"] = "bad" if major < OLDEST else "warning"
        yield Finding(
            "server", state, f"PostgreSQL {row['version']}", f"use a version from {OLDEST} to {NEWEST}"
        )
    wanted = {"fsync": "on", "autovacuum": "on", "encoding": "UTF8"}
    for setting, value in wanted.items():
        if row[setting] != value:
            yield Finding(setting, "bad", f"{setting} is {row[setting]}", f"set {setting} = {value}")
    if row["synchronous_commit"] in {"off", "local"}:
        found = f"synchronous_commit is {row['synchronous_commit']}"
        advice = (
            "set it to on: a crash or failover can lose the last outcomes, and at_most_once does not hold"
        )
        yield Finding("durability", "warning", found, advice)


def _clock(skew: float) -> Finding:
    if abs(skew) <= MOST_SKEW:
        return Finding("clock", "good", f"{skew:+.3f} s from this machine's")
    return Finding(
        "clock",
        "warning",
        f"{skew:+.1f} s from this machine's",
        "let NTP set both clocks: start times and signatures depend on them",
    )


def _direct(url: str) -> Finding:
    match reached(url):
        case Reach.DIRECT:
            return Finding("connection", "good", "direct")
        case Reach.SESSIONS:
            return Finding("connection", "good", "through a proxy that pools whole sessions")
        case Reach.TRANSACTIONS:
            found = "a transaction-pooling proxy is in between"
            return Finding("connection", "bad", found, "connect directly: locks belong to a session")


def _migrations(url: str) -> Finding:
    # Alembic takes half a second to import.
    from sqlalchemy.exc import ProgrammingError  # noqa: PLC0415

    from switchyard.ledger import migrate  # noqa: PLC0415

    try:
        current, newest = migrate.current(url), migrate.newest()
    except ProgrammingError:
        return Finding("migrations", "bad", "this user may not read which were applied", GRANT)
    if current != newest:
        found = f"at {current or 'none'}, this version needs {newest}"
        return Finding("migrations", "bad", found, "run `switchyard migrate`")
    # A user without a role cannot see it: the privileges are checked next.
    with suppress(InsufficientPrivilege):
        if not migrate.pending(url):
            return Finding("migrations", "good", f"at {current}")
        found = f"at {current}, with the functions and views of another version"
        return Finding("migrations", "bad", found, "run `switchyard migrate`")
    return Finding("migrations", "good", f"at {current}")


def _may_migrate(connection: Connection[DictRow]) -> Finding:
    """Whether the user may migrate; checked only without a ledger, as programs' users need not be able to."""
    found = rights(connection)
    if not found.missing:
        return Finding("rights", "good", f"{found.user} may run `switchyard migrate`")
    return Finding(
        "rights",
        "bad",
        f"{found.user} may not {'; '.join(found.missing)}",
        "an administrator has to run what `switchyard migrate` prints",
    )


def _roles(connection: Connection[DictRow]) -> Finding:
    rows = connection.execute(query("doctor", "roles")).fetchall()
    mine = [row["role"] for row in rows if row["member"]]
    if mine:
        return Finding("privileges", "good", ", ".join(mine))
    if not rows:
        return Finding("privileges", "bad", "the roles do not exist", "run `switchyard migrate`")
    return Finding("privileges", "bad", "this user has none of the roles", GRANT)


def _served(connection: Connection[DictRow]) -> Finding:
    rows = connection.execute(query("doctor", "unserved")).fetchall()
    if not rows:
        return Finding("served", "good", "a conductor serves every action name that something waits under")
    named = ", ".join(f"{row['action_name']} ({row['waiting']:,} waiting)" for row in rows)
    advice = "start a conductor whose configuration has the name, or cancel what waits"
    return Finding("served", "warning", f"no conductor serves {named}", advice)


def _schedules(connection: Connection[DictRow]) -> Finding:
    rows = connection.execute(query("doctor", "schedules")).fetchall()
    if not rows:
        return Finding("schedules", "good", "none has fired a tick of the future")
    named = ", ".join(f"{row['name']} ({row['last_at']:%Y-%m-%d %H:%M %Z})" for row in rows)
    advice = "the server's clock was set back: they wait until those times have passed again"
    return Finding("schedules", "warning", f"the last tick is in the future: {named}", advice)


def _signals(connection: Connection[DictRow]) -> Finding:
    row = _row(connection, "signals")
    if row["may"]:
        return Finding("lost workers", "good", "their connections can be ended")
    found = f"{row['owner']}, who owns the schema, may not end connections: a stopped worker keeps its claims"
    return Finding("lost workers", "warning", found, f"grant pg_signal_backend to {row['owner']}")


def _partitions(connection: Connection[DictRow]) -> Finding:
    row = _row(connection, "partitions")
    if not row["now_covered"]:
        return Finding(
            "partitions",
            "bad",
            "there is none for now: nothing can be submitted",
            "run `switchyard partitions --ensure 14`",
        )
    if row["days"] < FEWEST_DAYS:
        return Finding(
            "partitions",
            "warning",
            f"{row['days']:.1f} days ahead",
            "keep a conductor running, or run `switchyard partitions --ensure 14`",
        )
    return Finding("partitions", "good", f"{row['days']:.1f} days ahead")


def _locks(server: DictRow, slots: int) -> Finding:
    room = server["connections"] * server["locks_per_transaction"] // 4
    found = f"{slots:,} of {room:,} advisory locks that are safe may be in use"
    if slots <= room:
        return Finding("locks", "good", found)
    return Finding(
        "locks",
        "bad",
        found,
        "lower concurrency, or raise max_locks_per_transaction: a full lock table shuts the server",
    )


def _configurations(count: int) -> Finding:
    if count <= 1:
        return Finding(
            "configuration", "good", "the running workers share one" if count else "no worker is running"
        )
    return Finding(
        "configuration",
        "warning",
        f"{count} different ones among the running workers",
        "deploy one file to all, and reload",
    )


def _old_transactions(connection: Connection[DictRow]) -> Finding:
    rows = connection.execute(query("doctor", "readers")).fetchall()
    if not rows:
        return Finding("transactions", "good", "none has been open for long")
    worst: dict[str, Any] = rows[0]
    found = (
        f"process {worst['pid']} ({worst['usename']}) has one open for {worst['seconds'] / 60:.0f} minutes"
    )
    advice = "end it: vacuum cannot clean up behind it, and every claim slows down"
    return Finding("transactions", "warning", found, advice)


def _row(connection: Connection[DictRow], name: str) -> DictRow:
    row = connection.execute(query("doctor", name)).fetchone()
    assert row is not None
    return row
