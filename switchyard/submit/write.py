"""Writing submissions to the ledger, in the caller's transaction."""

import json
import time
from collections.abc import Iterable, Sequence
from itertools import islice
from uuid import UUID

from psycopg import AsyncConnection, Connection
from psycopg.rows import scalar_row

from switchyard.config.config import Config
from switchyard.errors import BadInput
from switchyard.ledger.queries import query
from switchyard.ledger.uuid7 import uuid7s
from switchyard.process import tracing
from switchyard.submit.check import accept
from switchyard.submit.submission import Request, Submission

CHUNK = 10_000


def submit(connection: Connection, submission: Submission, config: Config | None = None) -> UUID:
    """Submit one action; its id, or with an idempotency key that was used before, the first action's id."""
    return write_one(connection, accept(submission, config))


def write_one(connection: Connection, request: Request) -> UUID:
    """Write one request; the action's id."""
    began = time.monotonic()
    with connection.cursor(row_factory=scalar_row) as cursor:
        uuid: UUID | None = cursor.execute(query("submit", "one"), request.arguments()).fetchone()
    assert uuid is not None
    _trace([uuid], [request], began)
    return uuid


async def submit_async(
    connection: AsyncConnection, submission: Submission, config: Config | None = None
) -> UUID:
    """The same on an asynchronous connection."""
    began = time.monotonic()
    request = accept(submission, config)
    async with connection.cursor(row_factory=scalar_row) as cursor:
        await cursor.execute(query("submit", "one"), request.arguments())
        uuid: UUID | None = await cursor.fetchone()
    assert uuid is not None
    _trace([uuid], [request], began)
    return uuid


def submit_many(
    connection: Connection, submissions: Iterable[Submission], config: Config | None = None
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
            _trace(made, chunk, began)
            uuids += made
    return uuids


def _trace(uuids: Sequence[UUID], requests: Sequence[Request], began: float) -> None:
    if not tracing.enabled():
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
                    s.correlation_id, s.start_after,
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
