"""Caboose's words with the ledger: each method is one named query, on one connection that reconnects."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

import psycopg
from psycopg import AsyncConnection
from psycopg import errors as refusals
from psycopg.rows import AsyncRowFactory, class_row, dict_row

from caboose.callbacks import Ended, Planned
from switchyard.errors import ConfigError, DatabaseUnavailable
from switchyard.ledger import clean
from switchyard.ledger.connect import connect
from switchyard.ledger.queries import query
from switchyard.sources import Beat, Observation
from switchyard.status import Status

Row = TypeVar("Row")

# No schema, an older one, or a role that may not: nothing that waiting would mend.
_NOT_OURS = (
    refusals.UndefinedTable,
    refusals.UndefinedColumn,
    refusals.UndefinedFunction,
    refusals.InvalidSchemaName,
    refusals.InsufficientPrivilege,
)


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread as it was when we looked."""

    place: int
    action_uuid: UUID
    status: Status
    run: int
    attempt: int
    tries: int
    lock_id: int
    action_name: str
    workflow: str | None
    correlation_id: str | None
    told: bool  # the observed end of the observed run is in the ledger already
    seen_ended: bool  # some end of the observed run's execution is

    def __post_init__(self) -> None:
        object.__setattr__(self, "status", Status(self.status))


@dataclass(frozen=True, slots=True)
class Due:
    """An end whose callbacks are due."""

    uuid: UUID
    run: int
    status: Status
    attempt: int
    action_name: str
    workflow: str | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "status", Status(self.status))


@dataclass(frozen=True, slots=True)
class Overdue:
    """A workflow past its timeout."""

    uuid: UUID
    run: int
    workflow: str
    seconds: float


@dataclass(frozen=True, slots=True)
class HandedOver:
    """What a backend has, as far as the ledger knows."""

    uuid: UUID
    run: int
    lock_id: int
    action_name: str
    workflow: str | None
    silent: float
    handed: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Event:
    """One event to insert."""

    uuid: UUID
    run: int
    status: Status
    error: str | None = None
    retry_seconds: float | None = None
    detail: Mapping[str, Any] | None = None


class Ledger:
    """One connection, for one task at a time. What a lost connection held is free by itself."""

    def __init__(self, url: str, name: str) -> None:
        self._url = url
        self._name = name
        self._connection: AsyncConnection[Any] | None = None

    async def close(self) -> None:
        """Say goodbye; the server frees what is still locked."""
        if self._connection is not None:
            await self._connection.close()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        """All or nothing of what is done inside."""
        connection = await self._open()
        try:
            async with connection.transaction():
                yield
        except psycopg.OperationalError as error:
            raise _unavailable(error) from error

    async def threads_of(self, seen: Sequence[Observation]) -> dict[int, Thread]:
        """The threads by the place of the observation; what has none is not in it."""
        values = {
            "uuids": [each.uuid for each in seen],
            "runs": [each.run for each in seen],
            "statuses": [each.status for each in seen],
        }
        return {row.place - 1: row for row in await self._rows(Thread, "threads_of", values)}

    async def insert_events(self, events: Sequence[Event]) -> None:
        """One statement for all; the trigger locks their threads until the transaction ends."""
        if not events:
            return
        values = {
            "uuids": [event.uuid for event in events],
            "statuses": [str(event.status) for event in events],
            "runs": [event.run for event in events],
            "errors": [None if event.error is None else clean.text(event.error) for event in events],
            "retries": [event.retry_seconds for event in events],
            "details": [clean.document(event.detail) if event.detail else None for event in events],
        }
        await self._dicts("insert_events", values)

    async def open_at(self, runs: Mapping[UUID, int]) -> set[UUID]:
        """Which of these are open at that run; certain for threads that this transaction has locked."""
        return await self._uuids("open_at", runs)

    async def callbacks_made(self, runs: Mapping[UUID, int]) -> set[UUID]:
        """Clear `callbacks_due`; for those that are returned, it is on us to insert the callbacks."""
        return await self._uuids("callbacks_made", runs) if runs else set()

    async def ended(self, uuids: Sequence[UUID]) -> list[Ended]:
        """The ends of these threads."""
        rows = await self._dicts("ended", {"uuids": list(uuids)})
        return [Ended(**{**row, "status": Status(row["status"])}) for row in rows]

    async def due(self, not_ours: Sequence[str], buckets: Sequence[int], limit: int) -> list[Due]:
        """Ends whose callbacks are due."""
        values = {"not_ours": list(not_ours), "buckets": list(buckets), "limit": limit}
        return await self._rows(Due, "due", values)

    async def insert_callbacks(self, parents: Sequence[tuple[Ended, Planned]]) -> dict[UUID, bool]:
        """Insert what is not there yet; for those inserted, whether their parameters fitted."""
        planned = [each for _, each in parents]
        written = [clean.document(each.parameters) for each in planned]
        values = {
            "uuids": [each.uuid for each in planned],
            "names": [clean.text(each.action_name, 200) for each in planned],
            "workflows": [each.workflow for each in planned],
            "callbacks": [clean.text(each.callback, 200) for each in planned],
            "parents": [ended.uuid for ended, _ in parents],
            "priorities": [each.priority for each in planned],
            "parameters": written,
            "correlation_ids": [ended.correlation_id for ended, _ in parents],
        }
        asked = {each.uuid: text != "{}" for each, text in zip(planned, written, strict=True)}
        rows = await self._dicts("insert_callbacks", values)
        return {
            row["action_uuid"]: not (asked[row["action_uuid"]] and row["without_parameters"]) for row in rows
        }

    async def overdue(
        self, limits: Mapping[str, float], not_ours: Sequence[str], buckets: Sequence[int], limit: int
    ) -> list[Overdue]:
        """Workflows past their timeout."""
        values = {
            "workflows": list(limits),
            "seconds": list(limits.values()),
            "not_ours": list(not_ours),
            "buckets": list(buckets),
            "limit": limit,
        }
        return await self._rows(Overdue, "overdue", values)

    async def handed_over(self, names: Sequence[str], after: UUID, limit: int) -> list[HandedOver]:
        """A page of what backends have, in the order of the uuid."""
        values = {"names": list(names), "after": after, "limit": limit}
        return await self._rows(HandedOver, "handed_over", values)

    async def try_lock(self, lock_ids: Sequence[int]) -> set[int]:
        """Take those advisory locks that are free; an error drops the connection, and so all of them."""
        async with self._all_or_nothing():
            rows = await self._dicts("try_lock", {"lock_ids": list(lock_ids)})
        return {row["lock_id"] for row in rows}

    async def unlock(self, lock_ids: Sequence[int]) -> None:
        """Give them back."""
        async with self._all_or_nothing():
            await self._dicts("unlock", {"lock_ids": list(lock_ids)})

    async def notice(self, kind: str, subject: str, reason: str, key: str, detail: Mapping[str, Any]) -> None:
        """Put it into the inbox, unless it waits there already."""
        values = {
            "kind": kind,
            "subject": clean.text(subject),
            "reason": clean.text(reason),
            "detail": clean.document({**detail, "key": key}),
        }
        await self._dicts("notice", values)

    async def notice_over(self, kind: str, subject: str, reason: str) -> None:
        """Take out of the inbox what a caboose put there."""
        values = {"kind": kind, "subject": clean.text(subject), "reason": clean.text(reason)}
        await self._dicts("notice_over", values)

    async def keep_worker(self, worker: UUID, beat: Beat) -> None:
        """Write down that a worker lives, or ended."""
        values = {
            "worker": worker,
            "host": clean.text(beat.worker, 200),
            "done": beat.done,
            "failed": beat.failed,
            "rate": beat.rate,
            "ended": beat.event == "ended",
        }
        await self._dicts("keep_worker", values)

    async def change(self, name: str, values: Mapping[str, Any]) -> int:
        """One named statement that changes rows; how many it gave back."""
        return len(await self._dicts(name, values))

    async def _uuids(self, name: str, runs: Mapping[UUID, int]) -> set[UUID]:
        rows = await self._dicts(name, {"uuids": list(runs), "runs": list(runs.values())})
        return {row["action_uuid"] for row in rows}

    async def _rows(self, kind: type[Row], name: str, values: Mapping[str, Any]) -> list[Row]:
        return await self._execute(class_row(kind), name, values)

    async def _dicts(self, name: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        return await self._execute(dict_row, name, values)

    async def _execute(
        self, factory: AsyncRowFactory[Row], name: str, values: Mapping[str, Any]
    ) -> list[Row]:
        connection = await self._open()
        try:
            async with connection.cursor(row_factory=factory) as cursor:
                await cursor.execute(query("caboose", name), values)
                return await cursor.fetchall() if cursor.description else []
        except psycopg.OperationalError as error:
            raise _unavailable(error) from error
        except _NOT_OURS as error:
            raise ConfigError(
                f"the ledger cannot be used: {_line(error)}; see `switchyard migrate`"
            ) from error

    async def _open(self) -> AsyncConnection[Any]:
        if self._connection is None or self._connection.closed:
            self._connection = await connect(self._url, application_name=self._name)
        return self._connection

    @asynccontextmanager
    async def _all_or_nothing(self) -> AsyncIterator[None]:
        """After any error with locks the connection may hold some that nobody knows: drop it."""
        try:
            yield
        except BaseException:
            await self.close()
            raise


def _unavailable(error: psycopg.OperationalError) -> DatabaseUnavailable:
    """Deadlocks and serialisation failures are among them: all are worth another try."""
    return DatabaseUnavailable(_line(error) or type(error).__name__)


def _line(error: psycopg.Error) -> str:
    return (str(error).strip().splitlines() or [""])[0]
