"""Campaigns: the progress of each, why its items fail, and decisions about the whole campaign."""

from functools import partial
from typing import Any
from urllib.parse import quote

from signalbox.access.roles import Role
from signalbox.endpoint import Call, Later, get, post
from signalbox.problem import HttpProblem, not_found
from signalbox.records.campaigns import (
    Campaign,
    CampaignList,
    CampaignRetrigger,
    CampaignRetriggered,
    Failure,
    FailureList,
    OfCause,
)
from signalbox.records.changes import Changed, Reason
from signalbox.records.confirm import Confirmation
from switchyard.ledger.queries import query as named

MOST = 500
GROUP = 500


@get("/campaigns", Role.READER, template="campaigns")
async def campaigns(call: Call) -> CampaignList:
    """All campaigns and how far each is, the newest first."""
    rows = await call.rows(named("campaigns", "all"))
    return CampaignList(campaigns=[_campaign(row) for row in rows[:MOST]], more=len(rows) > MOST)


@get("/campaigns/{name:path}/failures", Role.READER)
async def failures(call: Call, name: str) -> FailureList:
    """Why items of a campaign ended without success, the most frequent cause first."""
    await _known(call, name)
    rows = await call.rows(named("campaigns", "failures"), {"name": name})
    return FailureList(failures=[Failure(**row) for row in rows])


@post("/campaigns/{name:path}/pause", Role.OPERATOR, after="/campaigns/{name}")
async def pause_campaign(call: Call, name: str, body: Reason) -> Changed:
    """Submit no more items until the campaign is resumed."""
    return await _decided(call, "pause", name, body)


@post("/campaigns/{name:path}/resume", Role.OPERATOR, after="/campaigns/{name}")
async def resume_campaign(call: Call, name: str, body: Reason) -> Changed:
    """Submit items again."""
    return await _decided(call, "resume", name, body)


@post("/campaigns/{name:path}/cancel", Role.OPERATOR, after="/campaigns/{name}")
async def cancel_campaign(call: Call, name: str, body: Reason) -> Changed:
    """End the campaign and everything of it that is open."""
    return await _decided(call, "cancel", name, body)


@post("/campaigns/{name:path}/retrigger", Role.OPERATOR, after="/campaigns/{name}")
async def retrigger_campaign(call: Call, name: str, body: CampaignRetrigger) -> CampaignRetriggered | Later:
    """Retrigger every item that ended without success, or for one cause, if they are as many as expected."""
    count = await _failed(call, name, body.cause)
    if count != body.expected:
        raise HttpProblem(
            409,
            f"{count} items ended without success, and {body.expected} were expected: look again",
            errors=[{"expected": body.expected, "matched": count}],
        )
    now = await call.row(named("campaigns", "now"))
    assert now is not None
    return Later(partial(_retriggered, call, name, body, now["now"]))


@get("/campaigns/{name:path}/pause", Role.OPERATOR, template="confirm")
async def confirm_pause_campaign(call: Call, name: str) -> Confirmation:
    """What a pause of this campaign means."""
    text = "No more items are submitted until it is resumed. Open items continue."
    return await _confirmation(call, name, "pause", text, "why, and until when")


@get("/campaigns/{name:path}/resume", Role.OPERATOR, template="confirm")
async def confirm_resume_campaign(call: Call, name: str) -> Confirmation:
    """What a resume of this campaign means."""
    return await _confirmation(call, name, "resume", "Its items are submitted again.", "what has changed")


@get("/campaigns/{name:path}/cancel", Role.OPERATOR, template="confirm")
async def confirm_cancel_campaign(call: Call, name: str) -> Confirmation:
    """What a cancellation of this campaign would end."""
    text = "The campaign ends, and its open items are canceled. A retrigger continues it."
    return await _confirmation(call, name, "cancel", text, "why it must not continue", danger=True)


@get("/campaigns/{name:path}/retrigger", Role.OPERATOR, template="confirm")
async def confirm_retrigger_campaign(call: Call, name: str, query: OfCause) -> Confirmation:
    """How many items a retrigger of this campaign, or of one cause in it, would concern."""
    count = await _failed(call, name, query.cause)
    which = "failed for this cause" if query.cause else "ended without success"
    text = f"Each item that {which} runs again. Nothing is done if their number has changed."
    more: dict[str, Any] = {"hidden": [("expected", str(count))], "button": f"Retrigger {count:,}"}
    if query.cause:
        more["hidden"].append(("cause", query.cause))
        more |= {"cause": query.cause, "count": count}
    return await _confirmation(call, name, "retrigger", text, "what has changed since they failed", **more)


@get("/campaigns/{name:path}", Role.READER, template="campaign", parts=("failures",))
async def campaign(call: Call, name: str) -> Campaign:
    """One campaign and how far it is."""
    return _campaign(await _known(call, name))


async def _known(call: Call, name: str) -> dict[str, Any]:
    row = await call.row(named("campaigns", "one"), {"name": name})
    if row is None:
        raise not_found(f"there is no campaign {name[:200]!r}")
    return row


def _campaign(row: dict[str, Any]) -> Campaign:
    return Campaign(**{field: row[field] for field in Campaign.model_fields})


async def _decided(call: Call, decision: str, name: str, body: Reason) -> Changed:
    await _known(call, name)
    return await call.change(named("campaigns", decision), {"name": name, "reason": body.reason})


async def _failed(call: Call, name: str, cause: str | None) -> int:
    """The number of items that ended without success, for one cause if it is given."""
    known = await _known(call, name)
    if cause is None:
        return int(known["unsuccessful"])
    row = await call.row(named("campaigns", "failed_with"), {"name": name, "cause": cause})
    assert row is not None
    return int(row["failures"])


async def _retriggered(call: Call, name: str, body: CampaignRetrigger, before: Any) -> CampaignRetriggered:
    """In groups, each a separate transaction: finished groups stay done if the request is interrupted."""
    values = {"name": name, "most": GROUP, "actor": call.caller.name, "before": before}
    values |= {"reason": body.reason, "cause": body.cause}
    done, last = 0, GROUP
    while last == GROUP:
        async with call.site.database.transaction(call.caller) as connection:
            cursor = await connection.execute(named("campaigns", "retrigger"), values)
            row = await cursor.fetchone()
        assert row is not None
        last = row["retriggered"]
        done += last
    return CampaignRetriggered(retriggered=done)


async def _confirmation(
    call: Call, name: str, decision: str, text: str, hint: str, cause: str | None = None, **more: Any
) -> Confirmation:
    row = await _known(call, name)
    place = f"/campaigns/{quote(name, safe='')}"
    return Confirmation(
        title=f"{decision.capitalize()} campaign {name}",
        text=text,
        facts={
            "Runs": row["workflow"] or row["action_name"],
            "Open": f"{row['open']:,}",
            "Not submitted yet": f"{row['waiting']:,}",
            "Without success": f"{row['unsuccessful']:,}",
            **({"Cause": cause} if cause else {}),
        },
        action=f"{place}/{decision}",
        hint=hint,
        back=place,
        **{"button": f"{decision.capitalize()} {name}", **more},
    )
