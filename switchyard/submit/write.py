"""Writing submissions to the ledger, in the caller's transaction."""

import json
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING
from uuid import UUID

from psycopg import AsyncConnection, Connection
from psycopg.rows import scalar_row

from switchyard.errors import BadInput
from switchyard.ledger.queries import query
from switchyard.submit.check import accept
from switchyard.submit.submission import Request, Submission

if TYPE_CHECKING:
    from switchyard.config.config import Config

CHUNK = 10_000


def submit(connection: Connection, submission: Submission, config: "Config | None" = None) -> UUID:
    """Submit one action and return its id; for a reused idempotency key, the first action's id."""
    return write_one(connection, accept(submission, config))


def write_one(connection: Connection, request: Request) -> UUID:
    """Write one request; the action's id."""
    began = time.monotonic()
    with connection.cursor(row_factory=scalar_row) as cursor:
        uuid: UUID | None = cursor.execute(query("submit", "one"), request.arguments()).fetchone()
    assert uuid is not None
    trace_submitted([uuid], [request], began)
    return uuid


async def submit_async(
    connection: AsyncConnection, submission: Submission, config: "Config | None" = None
) -> UUID:
    """The same on an asynchronous connection."""
    began = time.monotonic()
    request = accept(submission, config)
    async with connection.cursor(row_factory=scalar_row) as cursor:
        await cursor.execute(query("submit", "one"), request.arguments())
        uuid: UUID | None = await cursor.fetchone()
    assert uuid is not None
    trace_submitted([uuid], [request], began)
    return uuid


def submit_many(
    connection: Connection, submissions: Iterable[Submission], config: "Config | None" = None
) -> list[UUID]:
    """Submit many, in their order; if one is refused, none is submitted."""
    return write_many(connection, (accept(submission, config) for submission in submissions))


def write_many(connection: Connection, requests: Iterable[Request]) -> list[UUID]:
    """Write requests as they come, in one transaction; their ids in the same order."""
    uuids: list[UUID] = []
    remaining = iter(requests)
    with connection.transaction():
        while chunk := list(islice(remaining, CHUNK)):
            began = time.monotonic()
            keyed = any(request.submission.idempotency_key for request in chunk)
            made = _by_request(connection, chunk) if keyed else _by_copy(connection, chunk)
            trace_submitted(made, chunk, began)
            uuids += made
    return uuids


def trace_submitted(uuids: Sequence[UUID], requests: Sequence[Request], began: float) -> None:
    """Make each submission the root of its trace, where tracing is on; `began` is a time.monotonic()."""
    tracing = sys.modules.get("switchyard.process.tracing")  # who has configured it has imported it
    if tracing is None or not tracing.enabled():
        return
    for uuid, request in zip(uuids, requests, strict=True):
        tracing.mark(
            "submit",
            seconds=time.monotonic() - began,
            action_uuid=uuid,
            correlation_id=request.submission.correlation_id,
            parent_uuid=request.submission.parent_uuid,
            action=request.submission.action_name or request.submission.workflow or "",
        )


def _by_request(connection: Connection, chunk: Sequence[Request]) -> list[UUID]:
    requests = json.dumps([request.document() for request in chunk])
    with connection.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(query("submit", "many"), {"requests": requests}).fetchall()


def _by_copy(connection: Connection, chunk: Sequence[Request]) -> list[UUID]:
    routes = _routes(connection, chunk)
    with connection.cursor(row_factory=scalar_row) as cursor:
        now: float | None = cursor.execute(query("submit", "clock")).fetchone()
        assert now is not None
        uuids = list(uuid7s(now, len(chunk)))
        with cursor.copy(query("submit", "copy")) as copy:
            for uuid, request in zip(uuids, chunk, strict=True):
                s = request.submission
                copy.write_row((
                    uuid, "workflow" if s.workflow else "callback", s.action_name or routes[s.workflow or ""],
                    s.workflow, s.parent_uuid, s.priority, request.parameters, request.callbacks,
                    s.correlation_id, s.start_after, s.lane, list(s.tags) or None,
                    list(s.after) or None, s.after_policy, s.no_cache or None,
                ))  # fmt: skip
    return uuids


def _routes(connection: Connection, chunk: Sequence[Request]) -> dict[str, str]:
    """The action name of each workflow in the chunk, checked as the SQL function `submit` checks it."""
    workflows = {request.submission.workflow for request in chunk if request.submission.workflow}
    if not workflows:
        return {}
    rows = connection.execute(query("submit", "routed"), {"workflows": list(workflows)}).fetchall()
    found: dict[str, str] = dict(rows)
    for s in (request.submission for request in chunk):
        routed = found.get(s.workflow or "")
        if s.workflow and not (routed or s.action_name):
            raise BadInput(f"action_name: needed, for no conductor has announced a workflow {s.workflow}")
        if routed and s.action_name and s.action_name != routed:
            raise BadInput(f"action_name: workflow {s.workflow} is run by {routed}, not by {s.action_name}")
    return found


def uuid7s(epoch_seconds: float, count: int) -> Iterator[UUID]:
    """That many version 7 uuids of that moment; the index replaces the fraction of a millisecond."""
    milliseconds = int(epoch_seconds * 1000)
    noise = os.urandom(8 * count)
    for place in range(count):
        moment = (milliseconds + place // 4096) << 80 | 7 << 76 | (place % 4096) << 64
        tail = int.from_bytes(noise[8 * place : 8 * place + 8], "big") & (2**62 - 1)
        yield UUID(int=moment | 2 << 62 | tail)
