"""Schedules: their times and ticks, and decisions about them."""

import asyncio
from typing import Any

from signalbox.access.roles import Role
from signalbox.endpoint import Call, get, post
from signalbox.problem import not_found
from signalbox.records.changes import Changed, Reason
from signalbox.records.confirm import Confirmation
from signalbox.records.schedules import Schedule, ScheduleList, Tick, Triggered
from switchyard.ledger.queries import query as named
from switchyard.schedules.rows import times_of, upcoming, words

TICKS = 20
FOLLOWING = 4


@get("/schedules", Role.READER, template="schedules")
async def schedules(call: Call) -> ScheduleList:
    """All schedules with their next times and what became of the last ones."""
    rows = await call.rows(named("schedules", "all"))
    return ScheduleList(schedules=[await _schedule(call, row) for row in rows])


@post("/schedules/{name:path}/trigger", Role.ADMIN, after="/schedules")
async def trigger_schedule(call: Call, name: str, body: Reason) -> Triggered:
    """Submit the action of a schedule now."""
    await _known(call, name)
    values = {"name": name, "actor": call.caller.name, "reason": body.reason}
    row = await call.row(named("schedules", "trigger"), values)
    assert row is not None
    return Triggered(**row)


@post("/schedules/{name:path}/pause", Role.ADMIN, after="/schedules")
async def pause_schedule(call: Call, name: str, body: Reason) -> Changed:
    """Fire no more until the schedule is resumed."""
    await _known(call, name)
    return await call.change(named("schedules", "pause"), {"name": name, "reason": body.reason})


@post("/schedules/{name:path}/resume", Role.ADMIN, after="/schedules")
async def resume_schedule(call: Call, name: str, body: Reason) -> Changed:
    """Fire again from the next time on."""
    row = await _known(call, name)
    values = {"name": name, "revision": row["revision"], "next_at": times_of(row).after(call.now)}
    return await call.change(named("schedules", "resume"), {**values, "reason": body.reason})


@get("/schedules/{name:path}/{decision}", Role.ADMIN, template="confirm")
async def confirm_schedule(call: Call, name: str, decision: str) -> Confirmation:
    """What a decision about a schedule means."""
    texts = {
        "trigger": "Its action is submitted now, regardless of its times and its overlap policy.",
        "pause": "It does not fire until it is resumed. Actions that it submitted continue.",
        "resume": "It fires again from the next time on. The times of the pause do not count as missed.",
    }
    if decision not in texts:
        raise not_found("there is no such decision")
    row = await _known(call, name)
    return Confirmation(
        title=f"{decision.capitalize()} schedule {name}",
        text=texts[decision],
        facts={"Fires": words(times_of(row)), "Submits": row["workflow"] or row["action_name"]},
        action=f"/schedules/{name}/{decision}",
        button=f"{decision.capitalize()} {name}",
        hint="why now",
        back="/schedules",
    )


async def _known(call: Call, name: str) -> dict[str, Any]:
    row = await call.row(named("schedules", "one"), {"name": name})
    if row is None:
        raise not_found(f"there is no schedule {name}")
    return row


async def _schedule(call: Call, row: dict[str, Any]) -> Schedule:
    times = times_of(row)
    ticks = await call.rows(named("schedules", "ticks"), {"name": row["name"], "limit": TICKS})
    firing = row["next_at"] if row["paused_at"] is None else None
    known = {name: row[name] for name in Schedule.model_fields if name in row}
    # Not on the event loop: computing the times of an expression that fires once in four years is slow.
    ahead = await asyncio.to_thread(upcoming, times, firing, 1 + FOLLOWING) if firing else []
    return Schedule(
        **{**known, "next_at": firing, "words": words(times), "following": ahead[1:]},
        ticks=[Tick(**tick) for tick in ticks],
    )
