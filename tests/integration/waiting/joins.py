"""What the tests of waiting say often."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import psycopg

from tests.parts.database import Database

Connection = psycopg.Connection[tuple[Any, ...]]


def submit(
    connection: Connection, after: Sequence[UUID] = (), policy: str | None = None, **more: Any
) -> UUID:
    """One action of the name noop, which may wait for others."""
    values = {"after": list(after), "policy": policy, "workflow": None, "start": None, **more}
    [(uuid,)] = connection.execute(
        "select switchyard.submit('noop', workflow => %(workflow)s, start_after => %(start)s,"
        " after => %(after)s::uuid[], after_policy => %(policy)s)",
        values,
    ).fetchall()
    return uuid  # type: ignore[no-any-return]


def end(connection: Connection, *uuids: UUID, status: str = "SUCCESSFUL") -> None:
    """These actions end, in one statement."""
    connection.execute(
        "insert into switchyard.event (action_uuid, status, run, attempt) select t.action_uuid, %s::switchyard.status, t.run, 1"
        " from switchyard.thread t where t.action_uuid = any (%s)",
        [status, list(uuids)],
    )


def settle(connection: Connection) -> int:
    """Settle until nothing changes; how many are busy."""
    while True:
        [(settled, busy)] = connection.execute("select * from switchyard.settle_waiting()").fetchall()
        if not settled:
            return int(busy)


def status(database: Database, uuid: UUID) -> str:
    [(found,)] = database.execute("select status::text from switchyard.thread where action_uuid = %s", uuid)
    return str(found)


def held(database: Database, uuid: UUID) -> bool:
    [(found,)] = database.execute(
        "select coalesce(bool_or(due = 'infinity'), false) from switchyard.yard where action_uuid = %s", uuid
    )
    return bool(found)


def ready(database: Database, uuid: UUID, action_name: str = "noop") -> bool:
    """Whether a claim would take it."""
    with database.connect() as worker:
        [(uuids, *_)] = worker.execute(
            "select uuids from switchyard.claim(%s, 1000)", [action_name]
        ).fetchall()
        worker.execute("select pg_advisory_unlock_all()")  # the server may end the session later
    return uuid in uuids


def releases(database: Database, uuid: UUID) -> list[dict[str, int]]:
    """What each release recorded: the runs of those it waited for."""
    rows = database.execute(
        "select detail -> 'after' from switchyard.event where action_uuid = %s and source = 'joins' and status = 'INFO' order by event_id",
        uuid,
    )
    return [runs for (runs,) in rows]


@contextmanager
def settlers(database: Database) -> Iterator[Callable[[], set[str]]]:
    """Who was woken since the last look: conductors that know of no waiter ("maintenance"), and those that sleep ("joins")."""
    with database.connect() as sleeper:
        [(bell,)] = sleeper.execute("select switchyard.bell_channel('switchyard joins')").fetchall()
        names = {"switchyard_maintenance": "maintenance", bell: "joins"}
        for channel in names:
            sleeper.execute(f'listen "{channel}"'.encode())
        sleeper.execute("select pg_advisory_lock(1937204078, switchyard.bell_key('switchyard joins'))")

        def woken() -> set[str]:
            sleeper.execute("select")  # a round trip brings what was committed before
            return {names[each.channel] for each in sleeper.notifies(timeout=0)}

        yield woken


@contextmanager
def asleep(database: Database, action_name: str = "noop") -> Iterator[Callable[[], list[str]]]:
    """A conductor that sleeps on that name: what rang since the last look."""
    with database.connect() as sleeper:
        [(bell,)] = sleeper.execute("select switchyard.bell_channel(%s)", [action_name]).fetchall()
        sleeper.execute(f'listen "{bell}"'.encode())
        sleeper.execute("select pg_advisory_lock(1937204078, switchyard.bell_key(%s))", [action_name])

        def rang() -> list[str]:
            sleeper.execute("select")
            return [each.payload for each in sleeper.notifies(timeout=0)]

        yield rang
