"""What the ledger says a backend has, against what it has; and what stays there too long."""

from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from caboose.sweeps.reconcile import PACE, Pace, Reconcile
from switchyard.errors import Transient
from switchyard.sources import Observation
from tests.integration.caboose.conftest import Worlds
from tests.integration.caboose.world import World

FLOWS: dict[str, Any] = {
    "flow": {"action": "run", "retry": {"attempts": 5}, "callbacks": [{"name": "done", "action": "hook"}]},
    "hasty": {
        "action": "run",
        "timeout": "1ms",
        "callbacks": [{"name": "late", "action": "hook", "when": ["TIMED_OUT"]}],
    },
}


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
async def world(worlds: Worlds) -> World:
    return await worlds(FLOWS)


def reconcile(world: World, clock: Clock) -> Reconcile:
    return Reconcile(
        world.source, ["run"], world.queries, world.intake, world.leader, Pace(grace=10.0), clock=clock
    )


def mine(world: World) -> dict[str, str]:
    return {"spool": world.source._spool_id}


async def test_what_vanished_fails_after_the_grace_and_is_not_retried(world: World) -> None:
    clock = Clock()
    loop = reconcile(world, clock)
    assert await loop.run_once() is None
    uuid = world.queued(world.submit(), detail=mine(world))
    assert await loop.run_once() == PACE.every
    await world.tell()
    assert world.thread(uuid)["status"] == "QUEUED", "it may be on its way"
    clock.now += 11
    await loop.run_once()
    while await world.completer.run_once() == 0.0:
        continue
    thread = world.thread(uuid)
    assert (thread["status"], thread["run"], thread["needs_review"]) == ("FAILED", 1, True)
    assert "vanished" in thread["error"]
    assert len(world.children(uuid)) == 1


async def test_what_turns_up_within_the_grace_is_not_missed(world: World) -> None:
    clock = Clock()
    loop = reconcile(world, clock)
    uuid = world.queued(world.submit(), detail=mine(world))
    await loop.run_once()
    path = world.started(uuid)
    clock.now += 11
    await loop.run_once()
    path.rename(path.with_name("elsewhere"))
    clock.now += 9
    await loop.run_once()
    await world.completer.run_once()
    assert world.thread(uuid)["status"] == "QUEUED", "the grace began again"


async def test_a_fresh_look_under_the_lock_decides(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    loop = reconcile(world, clock)
    uuid = world.queued(world.submit(), detail=mine(world))
    world.exited(uuid)
    monkeypatch.setattr(world.source, "present", lambda *_: False)
    await loop.run_once()
    clock.now += 11
    with world.database.connect() as conductor:
        conductor.execute("select pg_advisory_lock(switchyard.uuid_lock(%s))", [uuid])
        await loop.run_once()
        assert world.intake.next_in() is None, "whoever holds the lock may be submitting it"
        conductor.execute("select pg_advisory_unlock(switchyard.uuid_lock(%s))", [uuid])
    await loop.run_once()
    while await world.completer.run_once() == 0.0:
        continue
    assert world.thread(uuid)["status"] == "SUCCESSFUL"


async def test_a_backend_that_does_not_answer_makes_nothing_vanish(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    loop = reconcile(world, clock)
    world.queued(world.submit(), detail=mine(world))

    async def silent(*_: Any) -> Observation | None:
        raise Transient("no answer")

    monkeypatch.setattr(world.source, "look", silent)
    await loop.run_once()
    clock.now += 11
    await loop.run_once()
    assert world.intake.next_in() is None
    assert world.database.execute("select count(*) from pg_locks where locktype = 'advisory'") == [(0,)]


async def test_an_execution_that_only_a_look_can_find_is_looked_at_now_and_then(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, looks = Clock(), 0
    loop = Reconcile(
        world.source, ["run"], world.queries, world.intake, world.leader, Pace(silent=0.0), clock=clock
    )
    uuid = world.queued(world.submit(), detail=mine(world))
    world.started(uuid)
    look = world.source.look

    async def counted(*about: Any) -> Observation | None:
        nonlocal looks
        looks += 1
        return await look(*about)

    monkeypatch.setattr(world.source, "present", lambda *_: None)
    monkeypatch.setattr(world.source, "look", counted)
    await loop.run_once()
    loop._pace = Pace(silent=60.0)
    await loop.run_once()
    assert looks == 1, "it was heard of lately"
    assert list(loop._asked) == [(uuid, 1)]
    world.event(uuid, "SUCCESSFUL", 1, 1)
    world.database.execute("select switchyard.callbacks_made(%s, 1)", uuid)
    await loop.run_once()
    assert loop._asked == {}


async def test_another_hosts_executions_are_not_missed_here(world: World) -> None:
    clock = Clock()
    loop = reconcile(world, clock)
    world.queued(world.submit(), detail={"spool": "another"})
    await loop.run_once()
    clock.now += 11
    await loop.run_once()
    assert world.intake.next_in() is None


async def test_a_timeout_ends_stops_and_calls_back(world: World) -> None:
    uuid = world.queued(world.submit("hasty"))
    path = world.started(uuid)
    await world.timeouts.run_once()
    thread = world.thread(uuid)
    assert (thread["status"], thread["error"]) == ("TIMED_OUT", "no end within 1ms")
    await world.due.run_once()
    assert (path / "stop").exists()
    assert [child[0] for child in world.children(uuid)] == ["late"]
    pause = await world.timeouts.run_once()
    assert pause is None, "nothing is left to time out"


async def test_what_is_not_handed_over_yet_does_not_time_out(world: World) -> None:
    uuid = world.submit("hasty")
    await world.timeouts.run_once()
    assert world.thread(uuid)["status"] == "PENDING"


async def test_other_cabooses_actions_are_left_to_them(worlds: Worlds, tmp_path: Path) -> None:
    world = await worlds(
        FLOWS, more_actions={"elsewhere": {"type": "local", "spool": str(tmp_path / "other")}}
    )
    (row,) = world.database.execute("select switchyard.submit('elsewhere', '{}', workflow => 'flow')")
    uuid = UUID(str(row[0]))
    world.event(uuid, "FAILED", 1, 1)
    await world.due.run_once()
    assert world.thread(uuid)["callbacks_due"], "only the caboose that serves it can stop it"
