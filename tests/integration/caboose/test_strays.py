"""Executions that nobody waits for any more: stopped, noted once, and no end is held up by them."""

import fcntl
from typing import Any
from uuid import UUID

import pytest

from caboose.observe import stop
from switchyard.backends.local.spool import record
from switchyard.errors import Transient
from switchyard.places import Places
from switchyard.sources import Observation
from switchyard.status import Status
from tests.integration.caboose.world import World


async def test_an_execution_whose_action_ended_is_stopped_and_noted_once(world: World) -> None:
    uuid = world.queued(world.submit())
    path = world.started(uuid)
    world.database.execute("select switchyard.cancel(%s, 'ann', 'no more')", uuid)
    running = Observation(uuid, 1, Status.RUNNING)
    await world.tell(running)
    assert (path / "stop").exists()
    await world.tell(running)
    assert [event[0] for event in world.events(uuid)].count("INFO") == 1


async def test_running_reported_after_the_end_is_old_news(world: World) -> None:
    uuid = world.queued(world.submit())
    world.exited(uuid)
    await world.tell()
    await world.tell(Observation(uuid, 1, Status.RUNNING))
    assert [event[0] for event in world.events(uuid)] == ["QUEUED", "SUCCESSFUL"]


async def test_one_that_was_begun_again_under_the_name_of_one_that_ended_is_stopped(world: World) -> None:
    uuid = world.queued(world.submit())
    world.exited(uuid, output={"n": 1})
    await world.tell()
    path = world.started(uuid)  # by a create that was on its way when its conductor lost the lock
    with (path / record.LOCK).open("w") as supervisor:
        fcntl.flock(supervisor, fcntl.LOCK_EX)
        await world.tell(Observation(uuid, 1, Status.RUNNING))
        assert (path / record.STOP).exists()
    record.write(path / record.EXIT, {"version": 1, "code": 143, "signal": None, "reason": "stopped"})
    await world.tell()
    assert not path.exists()
    assert world.thread(uuid)["status"] == "SUCCESSFUL"
    assert len(world.children(uuid)) == 1


async def test_an_execution_of_an_older_run_is_stopped(world: World) -> None:
    uuid = world.queued(world.submit())
    path = world.started(uuid)
    world.database.execute("select switchyard.cancel(%s, 'ann', 'no more')", uuid)
    await world.due.run_once()
    world.database.execute("select switchyard.retrigger(%s, 'ann', 'after all')", uuid)
    (path / "stop").unlink()
    await world.tell(Observation(uuid, 1, Status.RUNNING))
    assert (path / "stop").exists()
    assert world.thread(uuid)["run"] == 2


async def test_a_run_that_was_not_opened_goes_to_the_inbox_once(world: World) -> None:
    uuid = world.queued(world.submit())
    for _ in range(2):
        await world.tell(Observation(uuid, 9, Status.SUCCESSFUL))
    ((subject, error),) = world.inbox("strange_run")
    assert subject == str(uuid)
    assert "run 9" in error
    assert world.thread(uuid)["status"] == "QUEUED"


async def test_what_runs_for_an_action_that_is_gone_is_stopped_once(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    monkeypatch.setattr(stop, "REMEMBERED", 1)
    for last in ("1", "2"):
        uuid = UUID(f"01890163-8694-739b-aea5-966c26f8ad9{last}")
        path = world.started(uuid)
        for _ in range(2):
            await world.tell(Observation(uuid, 1, Status.RUNNING))
        assert (path / "stop").exists()
    assert caplog.text.count("its action is gone from the ledger") == 2
    assert len(world.completer._progress._stopper._recorded) == 1


async def test_one_that_cannot_be_stopped_holds_up_no_end_and_writes_no_note_twice(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck, other, unseen = (world.queued(world.submit()) for _ in range(3))
    world.exited(unseen)
    await world.tell()
    world.database.execute("select switchyard.cancel(%s, 'ann', 'no more')", stuck)
    path = world.exited(other)
    notes = [Observation(other, 1, Status.INFO, detail={"progress": 0.5})]

    async def fails(*_: Any) -> None:
        raise Transient("no answer")

    monkeypatch.setattr(world.source, "stop_execution", fails)
    monkeypatch.setattr(world.source, "look", fails)
    running = [Observation(uuid, 1, Status.RUNNING) for uuid in (stuck, unseen)]
    await world.tell(*notes, *running, *world.source._scan())
    assert world.thread(other)["status"] == "SUCCESSFUL"
    assert not path.exists()
    assert world.intake.waiting == 2
    assert [event[0] for event in world.events(other)] == ["QUEUED", "INFO", "SUCCESSFUL"]


async def test_security_m2_an_end_without_an_action_is_forgotten_and_leaves_nothing_in_the_store(
    world: World,
) -> None:
    uuid = UUID("01890163-8694-739b-aea5-966c26f8ad91")
    path = world.exited(uuid, output={"n": 1})
    await world.tell()
    assert world.store.size(Places(uuid, 1).workflow) is None
    assert not path.exists()
    assert world.database.execute("select count(*) from switchyard.action") == [(0,)]
