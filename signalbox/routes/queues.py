"""Queues: open actions, by action name."""

from itertools import groupby
from typing import Any

from signalbox.access.roles import Role
from signalbox.endpoint import Call, get, post
from signalbox.records.changes import Changed, Reason
from signalbox.records.operations import Pause, Queue, QueueList, QueueState
from switchyard.ledger.queries import query as named


@get("/queues", Role.READER, template="queues", parts=("workers", "lanes"))
async def queues(call: Call) -> QueueList:
    """The open actions, by action name; the first 500 names, those that conductors serve first."""
    rows = await call.rows(named("look", "queue"))
    paused = {row["action_name"]: _pause(row) for row in await call.rows(named("look", "paused"))}
    found = {name: list(states) for name, states in groupby(rows, key=lambda row: str(row["action_name"]))}
    return QueueList(
        queues=[_queue(name, found.get(name, []), paused.get(name)) for name in sorted({*found, *paused})]
    )


@post("/queues/{name:path}/pause", Role.OPERATOR, after="/queues")
async def pause(call: Call, name: str, body: Reason) -> Changed:
    """Stop claims of an action name."""
    return await call.change(named("decide", "pause"), {"name": name, "reason": body.reason})


@post("/queues/{name:path}/resume", Role.OPERATOR, after="/queues")
async def resume(call: Call, name: str, body: Reason) -> Changed:
    """Allow claims of an action name again."""
    return await call.change(named("decide", "resume"), {"name": name, "reason": body.reason})


def _queue(name: str, rows: list[dict[str, Any]], paused: Pause | None) -> Queue:
    states = [QueueState(**{key: row[key] for key in QueueState.model_fields}) for row in rows]
    return Queue(name=name, depth=sum(state.depth for state in states), paused=paused, states=states)


def _pause(row: dict[str, Any]) -> Pause:
    return Pause(since=row["paused_at"], actor=row["actor"], reason=row["reason"])
