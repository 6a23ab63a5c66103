"""What a source, a log or the ledger refuses delays only what it is about."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

import pytest

from caboose import isolate
from switchyard.errors import Transient
from switchyard.places import Places
from switchyard.sources import Beat, Notice, Observation, Seen
from switchyard.status import Status
from tests.integration.caboose.conftest import DONE, FLOWS, Worlds
from tests.integration.caboose.doing import ended_by_others, nothing, whole_pass
from tests.integration.caboose.world import World


async def test_hole_11_ends_that_cannot_be_followed_up_do_not_starve_those_behind_them(
    worlds: Worlds, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = await worlds({**FLOWS, "plain": {"action": "hook", "callbacks": [DONE]}}, caboose={"batch": 5})
    stuck = [ended_by_others(world) for _ in range(12)]
    behind = ended_by_others(world, workflow="plain", name="hook")
    asked: list[UUID] = []

    async def no_answer(uuid: UUID, *_: Any) -> None:
        asked.append(uuid)
        raise Transient("no answer")

    monkeypatch.setattr(world.source, "stop_execution", no_answer)
    await whole_pass(world)
    assert len(world.children(behind)) == 1
    assert len(asked) == 1, "a source that does not answer is asked once in a pass"
    monkeypatch.undo()
    await whole_pass(world)
    assert [len(world.children(uuid)) for uuid in stuck] == [1] * 12


async def test_holes_22_30_31_an_observation_that_cannot_be_processed_stops_no_other(world: World) -> None:
    good = world.queued(world.submit())
    world.exited(good, output={"n": 1})
    odd: list[Seen] = [
        Observation(good, 2**40, Status.RUNNING),
        Observation(uuid4(), -1, Status.SUCCESSFUL),
        Observation("no uuid", 1, Status.FAILED),  # type: ignore[arg-type]
        Observation({"no": "uuid"}, [1], {}),  # type: ignore[arg-type]
        Observation(good, 1, "RUNNING", detail=None),  # type: ignore[arg-type]
        Observation(good, 1, Status.INFO, detail={"x": object(), "y": float("nan")}),
        Observation(good, 1, Status.INFO, error="\0\ud800"),
        Beat("w" * 500, "assessment", "beat", 2**70, 0, float("inf"), nothing),
    ]
    await world.tell(*odd, *world.source._scan())
    assert world.thread(good)["status"] == "SUCCESSFUL"
    assert world.inbox("message") or world.inbox("end") or world.inbox("progress")


async def test_a_source_that_never_answers_delays_only_its_own_requests(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[UUID] = []

    async def never(uuid: UUID, *_: Any) -> None:
        asked.append(uuid)
        await asyncio.Event().wait()

    stray = [world.queued(world.submit()) for _ in range(5)]
    good = world.queued(world.submit())
    for uuid in stray:
        world.database.execute("select switchyard.cancel(%s, 'ann', 'no more')", uuid)
    world.exited(good, output={"n": 1})
    monkeypatch.setattr(isolate, "ANSWER", 0.2)
    monkeypatch.setattr(world.source, "stop_execution", never)
    await world.tell(*(Observation(uuid, 1, Status.RUNNING) for uuid in stray), *world.source._scan())
    assert world.thread(good)["status"] == "SUCCESSFUL"
    assert len(asked) == 1, "the others wait apart"
    await whole_pass(world)
    assert len(asked) == 2


async def test_hole_30_a_log_that_cannot_be_read_does_not_keep_an_end_from_being_recorded(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unreadable(_: Observation) -> bytes:
        raise PermissionError("log.txt")

    uuid = world.queued(world.submit())
    world.exited(uuid, output={"n": 1})
    monkeypatch.setattr(world.source, "log", unreadable)
    await world.tell()
    assert world.thread(uuid)["status"] == "SUCCESSFUL"
    assert b"could not be read" in world.store.get(Places(uuid, 1).log)


async def test_refused_ends_do_not_fill_the_intake(worlds: Worlds) -> None:
    """More refused ends than the intake has room for, and one that is fine behind them."""
    world = await worlds(FLOWS, caboose={"batch": 2})
    world.intake._room = 4
    refused = [world.queued(world.submit()) for _ in range(8)]
    world.database.execute(
        "create function public.refuse_some() returns trigger language plpgsql as"
        " $$ begin if new.detail ? 'refuse' then raise exception 'not this one'; end if; return new; end $$"
    )
    world.database.execute(
        "create trigger refuse before insert on switchyard.event for each row execute function public.refuse_some()"
    )
    seen = [Observation(uuid, 1, Status.FAILED, detail={"refuse": True}) for uuid in refused]
    good = world.queued(world.submit())
    await world.tell(*seen, Observation(good, 1, Status.SUCCESSFUL))
    assert world.thread(good)["status"] == "SUCCESSFUL"
    assert len(world.inbox("end")) == 8


async def test_progress_of_what_is_not_handed_over_does_not_come_for_ever(world: World) -> None:
    """An end waits for the handover; progress that was delivered often is acknowledged, and no inbox entry."""
    uuid = world.submit()
    acknowledged: list[str] = []

    async def acknowledge() -> None:
        acknowledged.append("progress")

    often = Notice("queue", "delivered 6 times, never recorded", "k", {}, nothing)
    await world.tell(
        Observation(uuid, 1, Status.RUNNING, poison=often, acknowledge=acknowledge),
        Observation(uuid, 1, Status.SUCCESSFUL, poison=often),
    )
    assert acknowledged == ["progress"]
    assert world.inbox("message") == []
    assert world.intake.waiting == 1
    assert world.thread(uuid)["status"] == "PENDING"
