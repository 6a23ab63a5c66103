"""Caboose's queries: each method runs one named query of `caboose.sql`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from caboose.rows import Due, Ended, Event, OpenExecution, Overdue, Planned, Thread
from caboose.session import Session
from switchyard.ledger import clean
from switchyard.sources import Beat, Notification, Observation

START = UUID(int=0)


@dataclass(frozen=True, slots=True)
class Page:
    """The part of a sweep to read next."""

    skip: Sequence[str]  # action names
    buckets: Sequence[int]
    limit: int
    after: UUID = START

    def values(self) -> dict[str, Any]:
        """As parameters of a query."""
        skip, buckets = list(self.skip), list(self.buckets)
        return {"skip": skip, "buckets": buckets, "limit": self.limit, "after": self.after}


class Queries(Session):
    """Everything that caboose reads from the ledger and writes to it, on one connection."""

    async def threads(self, seen: Sequence[Observation]) -> dict[int, Thread]:
        """The threads, by the position of their observation; an observation without a thread has none."""
        values = {
            "uuids": [each.uuid for each in seen],
            "runs": [each.run for each in seen],
            "statuses": [each.status for each in seen],
        }
        return {row.position - 1: row for row in await self.rows(Thread, "threads", values)}

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
        await self.dicts("insert_events", values)

    async def lock_free(self, uuids: Sequence[UUID]) -> set[UUID]:
        """Lock those of these threads that are not locked by others, until the transaction ends."""
        return {row["action_uuid"] for row in await self.dicts("lock_free", {"uuids": list(uuids)})}

    async def open_at(self, runs: Mapping[UUID, int]) -> set[UUID]:
        """Which of these are open at that run; certain for threads that this transaction has locked."""
        return await self._uuids("open_at", runs)

    async def callbacks_made(self, runs: Mapping[UUID, int]) -> set[UUID]:
        """Clear `callbacks_due`; this transaction inserts the callbacks of those that are returned."""
        return await self._uuids("callbacks_made", runs) if runs else set()

    async def ended(self, uuids: Sequence[UUID]) -> list[Ended]:
        """The ends of these threads."""
        return await self.rows(Ended, "ended", {"uuids": list(uuids)})

    async def due(self, page: "Page", workflows: Sequence[str]) -> list[Due]:
        """A page of ends whose callbacks are due, oldest first; only of these workflows, or of none."""
        return await self.rows(Due, "due", {**page.values(), "workflows": list(workflows)})

    async def unknown_workflows(self, page: "Page", workflows: Sequence[str]) -> dict[str, int]:
        """Workflows of due ends that are not among these, with the number of their ends."""
        rows = await self.dicts("unknown_workflows", {**page.values(), "workflows": list(workflows)})
        return {row["workflow"]: row["ends"] for row in rows}

    async def insert_callbacks(self, parents: Sequence[tuple[Ended, Planned]]) -> dict[UUID, bool]:
        """Insert those that do not exist yet; for each inserted one, whether its parameters fit."""
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
        rows = await self.dicts("insert_callbacks", values)
        return {
            row["action_uuid"]: not (asked[row["action_uuid"]] and row["without_parameters"]) for row in rows
        }

    async def overdue(self, page: "Page", limits: Mapping[str, float]) -> list[Overdue]:
        """A page of workflows past their timeout."""
        values = {**page.values(), "workflows": list(limits), "seconds": list(limits.values())}
        return await self.rows(Overdue, "overdue", values)

    async def open_executions(self, names: Sequence[str], after: UUID, limit: int) -> list[OpenExecution]:
        """A page of what was handed over to backends and has not ended, by uuid."""
        values = {"names": list(names), "after": after, "limit": limit}
        return await self.rows(OpenExecution, "open_executions", values)

    async def try_lead(self, name: str) -> bool:
        """Take the lock of a leader on this session, if it is free."""
        async with self.closed_on_error():
            (row,) = await self.dicts("try_lead", {"name": name})
        return bool(row["leads"])

    async def round_trip(self) -> None:
        """Raises where the session is gone."""
        await self.dicts("round_trip", {})

    async def try_lock(self, lock_ids: Sequence[int]) -> set[int]:
        """Take the advisory locks that are free; an error closes the connection and releases all."""
        async with self.closed_on_error():
            rows = await self.dicts("try_lock", {"lock_ids": list(lock_ids)})
        return {row["lock_id"] for row in rows}

    async def unlock(self, lock_ids: Sequence[int]) -> None:
        """Release them."""
        async with self.closed_on_error():
            await self.dicts("unlock", {"lock_ids": list(lock_ids)})

    async def report(self, kind: str, subject: str, reason: str, key: str, detail: Mapping[str, Any]) -> None:
        """Add an entry to the inbox, unless it is there already."""
        values = {
            "kind": kind,
            "subject": clean.text(subject),
            "reason": clean.text(reason),
            "detail": clean.document({**detail, "key": key}),
        }
        await self.dicts("report", values)

    async def resolve(self, kind: str, subject: str, reason: str) -> None:
        """Close the inbox entries of this kind and subject that a caboose added."""
        values = {"kind": kind, "subject": clean.text(subject), "reason": clean.text(reason)}
        await self.dicts("resolve", values)

    async def record_worker(self, worker: UUID, beat: Beat, action_name: str | None) -> bool:
        """Record a heartbeat of an assessment worker, or its end; False: the row is of another program."""
        values = {
            "worker": worker,
            "action_name": action_name,
            "host": clean.text(beat.worker, 200),
            "done": beat.done,
            "failed": beat.failed,
            "rate": beat.rate,
            "ended": beat.event == "ended",
        }
        return bool(await self.dicts("record_worker", values))

    async def submit_once(self, wanted: Notification) -> None:
        """Submit the action, unless one with this key was submitted before."""
        values = {
            "action_name": wanted.action_name,
            "parameters": clean.document(wanted.parameters),
            "correlation_id": clean.text(wanted.correlation_id) if wanted.correlation_id else None,
            "key": clean.text(wanted.key),
        }
        await self.dicts("submit_once", values)

    async def any_handed_over(self) -> bool:
        """Whether a backend has anything, of any action name."""
        return bool(await self.dicts("any_handed_over", {}))

    async def change(self, name: str, values: Mapping[str, Any]) -> int:
        """Run one named statement that changes rows; how many it returned."""
        return len(await self.dicts(name, values))

    async def _uuids(self, name: str, runs: Mapping[UUID, int]) -> set[UUID]:
        rows = await self.dicts(name, {"uuids": list(runs), "runs": list(runs.values())})
        return {row["action_uuid"] for row in rows}
