"""Archive, record, call back, forget: each step once, and a failure as often as its workflow allows."""

from typing import Any

import pytest

from switchyard.backends.local.spool import record
from switchyard.places import Places
from switchyard.sources import Observation
from switchyard.status import Status
from tests.integration.caboose.world import World


async def test_a_success_is_archived_recorded_called_back_and_forgotten(world: World) -> None:
    uuid = world.queued(world.submit(parameters={"x": 1}))
    path = world.exited(uuid, output={"n": 7}, stderr="a word")
    await world.tell()
    assert world.thread(uuid)["status"] == "SUCCESSFUL"
    assert world.thread(uuid)["callbacks_due"] is False
    assert world.children(uuid) == [("done", "hook", None, {"n": 7}, "PENDING")]
    places = Places(uuid, 1)
    assert b'"code": 0' in world.store.get(places.workflow)
    assert b"a word" in world.store.get(places.log)
    assert not path.exists()


async def test_running_is_written_onto_queued_and_only_there(world: World) -> None:
    uuid = world.submit()
    world.started(uuid)
    running = Observation(uuid, 1, Status.RUNNING)
    await world.tell(running)
    assert world.thread(uuid)["status"] == "PENDING", "conductor has not said QUEUED yet"
    assert world.intake.waiting == 1
    world.queued(uuid)
    world.intake._later = [(0.0, 0, running)]
    await world.tell(running)
    assert world.thread(uuid)["status"] == "RUNNING"
    await world.tell(running)
    assert [event[0] for event in world.events(uuid)] == ["QUEUED", "RUNNING"]
    assert world.thread(uuid)["attempt"] == 1


async def test_an_end_that_does_not_stand_makes_no_callbacks_and_is_forgotten(world: World) -> None:
    uuid = world.queued(world.submit())
    world.database.execute("select switchyard.cancel(%s, 'ann', 'no more')", uuid)
    await world.due.run_once()
    assert [child[3] for child in world.children(uuid)] == [{"n": None}], "the cancel's own"
    path = world.exited(uuid, output={"n": 1})
    await world.tell()
    assert world.thread(uuid)["status"] == "CANCELED"
    assert len(world.children(uuid)) == 1
    assert ("SUCCESSFUL", 1, True) in world.events(uuid), "kept in the log, and marked"
    assert not path.exists()


async def test_forgetting_waits_for_the_threads_lock(world: World) -> None:
    uuid = world.queued(world.submit())
    path = world.exited(uuid)
    with world.database.connect() as conductor:
        conductor.execute("select pg_advisory_lock(switchyard.uuid_lock(%s))", [uuid])
        await world.tell()
        assert world.thread(uuid)["status"] == "SUCCESSFUL"
        assert path.exists(), "a conductor may be about to submit it"
        conductor.execute("select pg_advisory_unlock(switchyard.uuid_lock(%s))", [uuid])
    await world.completer.run_once()
    assert not path.exists()
    assert world.database.execute("select count(*) from pg_locks where locktype = 'advisory'") == [(0,)]


async def test_a_failure_is_retried_as_a_new_run_under_the_workflows_policy(world: World) -> None:
    uuid = world.queued(world.submit("stubborn"))
    path = world.exited(uuid, 1, stderr="out of luck")
    await world.tell()
    thread = world.thread(uuid)
    assert (thread["status"], thread["run"], thread["attempt"], thread["tries"]) == ("BACKOFF", 2, 0, 1)
    assert thread["error"] == "exit code 1: out of luck"
    assert not path.exists()
    for run in (2, 3):
        world.event(uuid, "QUEUED", run, 1)
        world.exited(uuid, 1, run=run)
        await world.tell()
    thread = world.thread(uuid)
    assert (thread["status"], thread["run"], thread["needs_review"]) == ("FAILED", 3, True)
    assert len(world.children(uuid)) == 1, "one end, one callback"


async def test_a_fatal_exit_is_never_retried(world: World) -> None:
    uuid = world.queued(world.submit("stubborn"))
    world.exited(uuid, 65, stderr="no such site")
    await world.tell()
    assert world.thread(uuid)["status"] == "FAILED"
    assert world.thread(uuid)["run"] == 1


async def test_a_retry_loses_against_a_cancel(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    uuid = world.queued(world.submit("stubborn"))
    world.exited(uuid, 1)
    (seen,) = world.source._scan()
    threads = world.queries.threads

    async def cancelled_meanwhile(observed: Any) -> Any:
        found = await threads(observed)
        world.database.execute("select switchyard.cancel(%s, 'ann', 'no more')", uuid)
        return found

    monkeypatch.setattr(world.queries, "threads", cancelled_meanwhile)
    await world.tell(seen)
    assert world.thread(uuid)["status"] == "CANCELED"
    assert len(world.children(uuid)) == 1


async def test_a_failure_that_is_reported_again_after_the_retry_is_only_forgotten(world: World) -> None:
    uuid = world.queued(world.submit("stubborn"))
    path = world.exited(uuid, 1)
    (seen,) = world.source._scan()
    await world.tell(seen)
    world.exited(uuid, 1)
    before = world.events(uuid)
    await world.tell(seen)
    assert world.events(uuid) == before
    assert not path.exists()


async def test_the_same_end_twice_in_one_batch_is_one_end(world: World) -> None:
    uuid = world.queued(world.submit())
    world.exited(uuid, output={"n": 1})
    (seen,) = world.source._scan()
    await world.tell(seen, seen)
    assert [event[0] for event in world.events(uuid)] == ["QUEUED", "SUCCESSFUL"]
    assert len(world.children(uuid)) == 1


async def test_a_process_that_died_with_its_supervisor_is_failed(world: World) -> None:
    uuid = world.queued(world.submit())
    (world.started(uuid) / record.LOCK).touch()
    await world.tell()
    assert world.thread(uuid)["status"] == "FAILED"
    assert "died and left no exit status" in world.thread(uuid)["error"]
