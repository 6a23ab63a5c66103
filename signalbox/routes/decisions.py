"""Decisions about jobs and inbox entries, one by one or by a filter."""

from typing import Any, Literal
from uuid import UUID

from signalbox.access.roles import Role
from signalbox.bulk import Bulk
from signalbox.endpoint import Call, Later, post
from signalbox.problem import HttpProblem
from signalbox.records.changes import Again, Changed, Reason
from signalbox.records.decisions import BulkRequest, BulkRetrigger, Chosen, Done, Retriggered
from signalbox.routes.jobs import known_job
from switchyard.ledger.queries import query as named

MOST = 10_000


@post("/jobs/{job}/retrigger", Role.OPERATOR, after="/jobs/{job}")
async def retrigger(call: Call, job: UUID, body: Again) -> Retriggered:
    """Open the next run of a job that ended without success."""
    await known_job(call, job)
    return Retriggered(run=await _decide(call, "retrigger", job, body.reason, body.resume_from))


@post("/jobs/{job}/cancel", Role.OPERATOR, after="/jobs/{job}")
async def cancel(call: Call, job: UUID, body: Reason) -> Changed:
    """Cancel an open job."""
    await known_job(call, job)
    return Changed(changed=bool(await _decide(call, "cancel", job, body.reason)))


@post("/jobs/{job}/call-back", Role.OPERATOR, after="/jobs/{job}")
async def call_back(call: Call, job: UUID, body: Reason) -> Changed:
    """Make the callbacks of an ended job again."""
    await known_job(call, job)
    return Changed(changed=bool(await _decide(call, "call_back", job, body.reason)))


@post("/actions/{action}/retrigger", Role.OPERATOR, after="/inbox")
async def retrigger_action(call: Call, action: UUID, body: Again) -> Retriggered:
    """Open the next run of any action that ended without success."""
    return Retriggered(run=await _decide(call, "retrigger", action, body.reason, body.resume_from))


@post("/actions/{action}/dismiss", Role.OPERATOR, after="/inbox")
async def dismiss_action(call: Call, action: UUID, body: Reason) -> Changed:
    """Take a failed action out of the inbox and leave it as it ended."""
    return Changed(changed=bool(await _decide(call, "dismiss", action, body.reason)))


@post("/inbox/{entry}/dismiss", Role.OPERATOR, after="/inbox")
async def dismiss_entry(call: Call, entry: int, body: Reason) -> Changed:
    """Take a journal entry out of the inbox."""
    if entry.bit_length() > 63:
        raise HttpProblem(404, "there is no such entry")
    return await call.change(named("decide", "dismiss_entry"), {"entry": entry, "reason": body.reason})


@post("/jobs:retrigger", Role.OPERATOR, after="/inbox")
async def retrigger_many(call: Call, body: BulkRetrigger) -> Done | Later:
    """Open the next run of all chosen actions in the inbox, if they are as many as expected."""
    return await _bulk(call, "retrigger", "failed_chosen", body, body.resume_from)


@post("/jobs:cancel", Role.OPERATOR, after="/jobs")
async def cancel_many(call: Call, body: BulkRequest) -> Done | Later:
    """Cancel all chosen actions that have not ended, if they are as many as expected."""
    return await _bulk(call, "cancel", "open_chosen", body)


async def _decide(
    call: Call, verb: str, action: UUID, reason: str, resume_from: Literal["start", "failed"] = "failed"
) -> int:
    values = {"uuids": [action], "actor": call.caller.name, "reason": reason, "resume_from": resume_from}
    row = await call.row(named("decide", verb), values)
    assert row is not None
    return int(row["result"])


async def _bulk(call: Call, verb: str, choose: str, body: BulkRequest, resume_from: str = "failed") -> Later:
    """Nothing is done if the count has changed; an action that has changed since then is refused alone."""
    given = body.filter.model_dump(exclude_none=True)
    if not given:
        raise HttpProblem(422, "/filter: must have at least one field")
    uuids = await chosen(call, given, choose)
    check_count("actions", len(uuids), body.expected)
    return Later(Bulk(call, verb, body.reason, uuids, resume_from).answer)


def check_count(what: str, matched: int, expected: int) -> None:
    """409 if the number of matches is not the one that the caller was shown."""
    if matched != expected:
        raise HttpProblem(
            409,
            f"{matched} {what} match now, and {expected} were expected: look again",
            errors=[{"expected": expected, "matched": matched}],
        )


async def chosen(call: Call, given: dict[str, Any], choose: str) -> list[UUID]:
    """Failed actions that wait for a decision, or open ones: both are few compared to the history."""
    values = {**dict.fromkeys(Chosen.model_fields), **given, "limit": MOST + 1}
    rows = await call.rows(named("signalbox", choose), values)
    if len(rows) > MOST:
        raise HttpProblem(422, f"more than {MOST} actions match: choose fewer")
    return [row["action_uuid"] for row in rows]
