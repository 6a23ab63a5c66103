"""The ledger as tests need it: submit, add an event, and read what became of it."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple
from uuid import UUID

from psycopg.rows import dict_row

from tests.parts.database import Database


class Thread(NamedTuple):
    """The state of an action."""

    status: str
    error: str | None
    needs_review: bool


class Event(NamedTuple):
    """One step of an action."""

    status: str
    run: int
    attempt: int
    ignored: bool


class Callback(NamedTuple):
    """An action that followed another."""

    status: str
    parameters: dict[str, Any]


class Ledger:
    """One database, through SQL alone, as any client would."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def insert(self, name: str, count: int = 1) -> list[UUID]:
        """This many actions of that name, oldest first."""
        rows = self.database.execute(
            "insert into switchyard.action (action_name) select %s from generate_series(1, %s)"
            " returning action_uuid",
            *(name, count),
        )
        return [row[0] for row in rows]

    def submit(
        self,
        name: str,
        workflow: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        *,
        callbacks: list[Mapping[str, Any]] | None = None,
    ) -> UUID:
        """An action, by the function that clients call."""
        [[uuid]] = self.database.execute(
            "select switchyard.submit(%s, %s, workflow => %s, correlation_id => 'c-1', callbacks => %s)",
            *(
                name,
                json.dumps(parameters or {}),
                workflow,
                None if callbacks is None else json.dumps(callbacks),
            ),
        )
        return UUID(str(uuid))

    def event(
        self,
        uuid: UUID,
        status: str,
        run: int = 1,
        attempt: int = 1,
        detail: Mapping[str, Any] | None = None,
    ) -> None:
        """An event as conductor writes it."""
        self.database.execute(
            "insert into switchyard.event (action_uuid, status, run, attempt, source, detail)"
            " values (%s, %s, %s, %s, 'conductor', %s)",
            *(uuid, status, run, attempt, json.dumps(detail or {})),
        )

    def events(self, uuid: UUID) -> list[Event]:
        """All events of an action, in order."""
        rows = self.database.execute(
            "select status::text, run, attempt, ignored from switchyard.event where action_uuid = %s"
            " order by event_id",
            uuid,
        )
        return [Event(*row) for row in rows]

    def thread(self, uuid: UUID) -> dict[str, Any]:
        """The whole row of a thread."""
        with self.database.connect(row_factory=dict_row) as connection:
            found = connection.execute(
                "select *, status::text from switchyard.thread where action_uuid = %s", [uuid]
            ).fetchone()
        assert found is not None, f"no thread {uuid}"
        return dict(found)

    def threads(self) -> dict[UUID, Thread]:
        """Of every workflow."""
        rows = self.database.execute(
            "select t.action_uuid, t.status::text, t.error, t.needs_review from switchyard.thread t"
            " join switchyard.action a using (action_uuid) where a.action_type = 'workflow'"
        )
        return {row[0]: Thread(*row[1:]) for row in rows}

    def status(self, uuid: UUID) -> str:
        return self.statuses(uuid)[0]

    def statuses(self, *uuids: UUID) -> list[str]:
        """Of these, oldest first."""
        rows = self.database.execute(
            "select status::text from switchyard.thread where action_uuid = any(%s) order by action_uuid",
            list(uuids),
        )
        return [row[0] for row in rows]

    def counts(self, name: str | None = None) -> dict[str, int]:
        """How many threads, of that name or of all, have which status."""
        rows = self.database.execute(
            "select status::text, count(*) from switchyard.thread"
            " where %s::text is null or action_name = %s group by 1",
            *(name, name),
        )
        return dict(rows)

    def open(self) -> int:
        """How many actions of any kind have not ended, or have callbacks to come."""
        return self._count("select count(*) from switchyard.thread where ended_at is null or callbacks_due")

    def callbacks(self) -> dict[tuple[UUID, str], Callback]:
        """Every callback, by parent and name."""
        rows = self.database.execute(
            "select a.parent_uuid, a.callback, t.status::text, a.parameters from switchyard.action a"
            " join switchyard.thread t using (action_uuid) where a.parent_uuid is not null"
        )
        return {(row[0], row[1]): Callback(*row[2:]) for row in rows}

    def inbox(self, kind: str) -> list[tuple[Any, ...]]:
        """(subject, error) of the inbox's entries of that kind."""
        return self.database.execute(
            "select subject, error from switchyard.inbox where kind = %s order by entry_id", kind
        )

    def workers(self) -> int:
        """How many are alive."""
        return self._count(
            "select count(*) from switchyard.worker where ended_at is null and lost_at is null"
        )

    def locks(self) -> int:
        """Advisory locks on threads that anybody holds in this database."""
        return self._count(
            "select count(*) from pg_locks join pg_database on pg_database.oid = database"
            " where locktype = 'advisory' and objsubid = 1 and datname = current_database()"
        )

    def _count(self, query: str) -> int:
        [[count]] = self.database.execute(query)
        return int(count)
