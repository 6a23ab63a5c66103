"""What the tests of the ledger say often."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg
from psycopg.rows import dict_row, scalar_row

from tests.parts.database import Database
from tests.waiting import until

Connection = psycopg.Connection[tuple[Any, ...]]


@dataclass(frozen=True)
class Ledger:
    """A database with the words of the ledger; each call is a transaction of its own."""

    database: Database
    connection: Connection

    def submit(self, action_name: str | None = "noop", **given: object) -> UUID:
        arguments = {"action_name": action_name, **given}
        names = psycopg.sql.SQL(", ").join(
            psycopg.sql.SQL("{} => {}").format(psycopg.sql.Identifier(n), psycopg.sql.Placeholder(n))
            for n in arguments
        )
        statement = psycopg.sql.SQL("select switchyard.submit({})").format(names)
        with self.connection.cursor(row_factory=scalar_row) as cursor:
            uuid: UUID | None = cursor.execute(statement, arguments).fetchone()
        assert uuid is not None
        return uuid

    def old_partition(self, day: str) -> str:
        """The suffix of a partition of the past, made as conductors made it then."""
        named = {"s": day.replace("-", ""), "d": day}
        with self.connection.transaction():
            self.connection.execute(
                "select switchyard.attach_partition(parent, %(s)s, %(d)s::timestamptz, %(d)s::timestamptz + interval '1 day') "
                "from unnest(array['action', 'thread', 'event']) as parent",
                named,
            )
            self.connection.execute(
                "insert into switchyard.partition_span values (%(d)s::timestamptz, %(d)s::timestamptz + interval '1 day', %(s)s)",
                named,
            )
        return named["s"]

    def old_action(self, day: str, workflow: str | None = None) -> tuple[str, UUID]:
        """An action of that day, and the suffix of its partition."""
        suffix = self.old_partition(day)
        [(uuid,)] = self.connection.execute(
            "insert into switchyard.action (action_uuid, action_name, action_type, workflow)"
            " values (switchyard.uuid7(%s::timestamptz), 'x', case when %s::text is null then 'callback' else 'workflow' end, %s) returning action_uuid",
            [f"{day} 12:00Z", workflow, workflow],
        ).fetchall()
        return suffix, uuid

    def event(self, uuid: UUID, status: str, run: int | None = None, attempt: int | None = None) -> None:
        write_event(self.connection, uuid, status, run, attempt)

    def thread(self, uuid: UUID) -> dict[str, Any]:
        with self.connection.cursor(row_factory=dict_row) as cursor:
            found = cursor.execute(
                "select * from switchyard.thread where action_uuid = %s", [uuid]
            ).fetchone()
        assert found is not None, f"no thread {uuid}"
        return found

    def state(self, uuid: UUID) -> tuple[str, int, int]:
        thread = self.thread(uuid)
        return thread["status"], thread["run"], thread["attempt"]

    def events(self, uuid: UUID) -> list[tuple[str, bool]]:
        return self.connection.execute(
            "select status::text, ignored from switchyard.event where action_uuid = %s order by event_id",
            [uuid],
        ).fetchall()

    def claim(self, limit: int = 10, action_name: str = "noop", held: list[UUID] | None = None) -> list[UUID]:
        return claim(self.connection, limit, action_name, held)


def write_event(
    connection: Connection, uuid: UUID, status: str, run: int | None = None, attempt: int | None = None
) -> None:
    connection.execute(
        "insert into switchyard.event (action_uuid, status, run, attempt) values (%s, %s, %s, %s)",
        [uuid, status, run, attempt],
    )


def claim(
    connection: Connection, limit: int = 10, action_name: str = "noop", held: list[UUID] | None = None
) -> list[UUID]:
    row = connection.execute(
        "select uuids from switchyard.claim(%s, %s, %s)", [action_name, limit, held or []]
    ).fetchone()
    assert row is not None
    uuids: list[UUID] = row[0]
    return uuids


def locks_held(connection: Connection) -> int:
    """Advisory locks of the one-bigint form that this connection holds."""
    row = connection.execute(
        "select count(*) from pg_locks where locktype = 'advisory' and objsubid = 1 and pid = pg_backend_pid()"
    ).fetchone()
    assert row is not None
    count: int = row[0]
    return count


def waits_for_a_lock(database: Database, pid: int) -> None:
    """Returns once that backend waits for a lock."""
    asked = "select 1 from pg_stat_activity where pid = %s and wait_event_type = 'Lock'"
    with database.connect() as watcher:
        until(lambda: watcher.execute(asked, [pid]).fetchall())


def behind(
    database: Database, first: Connection, second: Connection, statement: str, *values: object
) -> None:
    """Runs the statement on `second` while `first` has a transaction open that it must wait for; then commits."""
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(second.execute, statement.encode(), values)
        waits_for_a_lock(database, second.info.backend_pid)
        first.commit()
        waiting.result(timeout=60)
