"""Submitting from Python, in the caller's transaction: what rolls back was never there.

With a `config`, what it does not serve and parameters that fail a schema are refused here, by field; without
one, such an action is taken, and a conductor ends it INVALID. Where the process has called
`tracing.configure`, each is the root of its trace (docs/adr/0042).
"""

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
from switchyard.ledger.submission import Submission
from switchyard.ledger.uuid7 import uuid7s
from switchyard.process import tracing

CHUNK = 10_000


def submit(connection: Connection, submission: Submission, config: Config | None = None) -> UUID:
    """Ask for one action; its id, or with an idempotency key used before, the first action's."""
    began = time.monotonic()
    request = submission.checked(config).request()
    with connection.cursor(row_factory=scalar_row) as cursor:
        uuid: UUID | None = cursor.execute(query("submit", "one"), request).fetchone()
    assert uuid is not None
    _trace([uuid], [submission], began)
    return uuid


async def submit_async(
    connection: AsyncConnection, submission: Submission, config: Config | None = None
) -> UUID:
    """The same on an asynchronous connection."""
    began = time.monotonic()
    request = submission.checked(config).request()
    async with connection.cursor(row_factory=scalar_row) as cursor:
        await cursor.execute(query("submit", "one"), request)
        uuid: UUID | None = await cursor.fetchone()
    assert uuid is not None
    _trace([uuid], [submission], began)
    return uuid


def submit_many(
    connection: Connection, submissions: Iterable[Submission], config: Config | None = None
) -> list[UUID]:
    """Ask for many, in their order; all of them or, when one is refused, none."""
    uuids: list[UUID] = []
    remaining = (submission.checked(config) for submission in submissions)
    with connection.transaction():
        while chunk := list(islice(remaining, CHUNK)):
            began = time.monotonic()
            keyed = any(submission.idempotency_key for submission in chunk)
            made = _by_request(connection, chunk) if keyed else _by_copy(connection, chunk)
            _trace(made, chunk, began)
            uuids += made
    return uuids


def _trace(uuids: Sequence[UUID], submissions: Sequence[Submission], began: float) -> None:
    if not tracing.enabled():
        return
    for uuid, submission in zip(uuids, submissions, strict=True):
        tracing.mark(
            "submit",
            seconds=time.monotonic() - began,
            action_uuid=uuid,
            correlation_id=submission.correlation_id,
            parent_uuid=submission.parent_uuid,
            action=submission.action_name or submission.workflow or "",
        )


def _by_request(connection: Connection, chunk: Sequence[Submission]) -> list[UUID]:
    requests = [_plain(submission) for submission in chunk]
    with connection.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(query("submit", "many"), {"requests": json.dumps(requests)}).fetchall()


def _by_copy(connection: Connection, chunk: Sequence[Submission]) -> list[UUID]:
    routes = _routes(connection, chunk)
    with connection.cursor(row_factory=scalar_row) as cursor:
        now: float | None = cursor.execute(query("submit", "clock")).fetchone()
        assert now is not None
        uuids = list(uuid7s(now, len(chunk)))
        with cursor.copy(query("submit", "copy")) as copy:
            for uuid, s in zip(uuids, chunk, strict=True):
                copy.write_row((
                    uuid, "workflow" if s.workflow else "callback", s.action_name or routes[s.workflow or ""],
                    s.workflow, s.parent_uuid, s.priority, s.parameters_json(), s.callbacks_json(),
                    s.correlation_id, s.start_after,
                ))  # fmt: skip
    return uuids


def _routes(connection: Connection, chunk: Sequence[Submission]) -> dict[str, str]:
    """The action name of each workflow in the chunk, checked as `submit` checks it."""
    workflows = {s.workflow for s in chunk if s.workflow}
    if not workflows:
        return {}
    rows = connection.execute(query("submit", "routed"), {"workflows": list(workflows)}).fetchall()
    found: dict[str, str] = dict(rows)
    for s in chunk:
        routed = found.get(s.workflow or "")
        if s.workflow and not (routed or s.action_name):
            raise BadInput(f"action_name: needed, for no conductor has announced a workflow {s.workflow}")
        if routed and s.action_name and s.action_name != routed:
            raise BadInput(f"action_name: workflow {s.workflow} is run by {routed}, not by {s.action_name}")
    return found


def _plain(submission: Submission) -> dict[str, object]:
    request = submission.request()
    request["parameters"] = dict(submission.parameters)
    request["callbacks"] = None if submission.callbacks is None else list(submission.callbacks)
    request["start_after"] = submission.start_after and submission.start_after.isoformat()
    request["parent_uuid"] = submission.parent_uuid and str(submission.parent_uuid)
    return request
