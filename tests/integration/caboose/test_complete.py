"""Archive, record, call back, forget: each step once, whatever happens in between."""

import asyncio
import fcntl
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg import sql

from caboose import cancel
from caboose.presence import Presence
from caboose.record import NotInCharge
from caboose.source import Observation
from switchyard.errors import DatabaseUnavailable, Transient
from switchyard.places import Places
from switchyard.spool import record
from switchyard.status import Status
from switchyard.store import open_store
from tests.integration.caboose.conftest import Worlds
from tests.integration.caboose.world import World
from tests.parts.disk import Disk
from tests.parts.need import obtain
from tests.waiting import until

DONE = {"name": "done", "action": "hook", "parameters": {"n": {"path": "$.output.n"}}}
FLOWS: dict[str, Any] = {
    "flow": {"action": "run", "callbacks": [DONE]},
    "stubborn": {"action": "run", "retry": {"attempts": 3, "base": "1s"}, "callbacks": [DONE]},
    "strict": {"action": "run", "output_schema": {"required": ["n"]}, "callbacks": [DONE]},
}


@pytest.fixture
async def world(worlds: Worlds) -> World:
    return await worlds(FLOWS)


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


async def test_a_death_after_the_commit_leaves_only_the_forgetting(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    uuid = world.queued(world.submit())
    path = world.exited(uuid, output={"n": 1})
    (seen,) = world.source._scan()
    with monkeypatch.context() as patch:
        patch.setattr(world.completer._forgetter, "forget", _dies)
        with pytest.raises(KeyboardInterrupt):
            await world.tell(seen)
    assert path.exists()
    world.intake._later.clear()
    await world.tell(seen)
    assert not path.exists()
    assert len(world.children(uuid)) == 1
    assert [event[0] for event in world.events(uuid)] == ["QUEUED", "SUCCESSFUL"], "no second end"


async def test_a_death_before_the_commit_leaves_nothing_but_the_archive(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    uuid = world.queued(world.submit())
    path = world.exited(uuid, output={"n": 1})
    (seen,) = world.source._scan()
    with monkeypatch.context() as patch:
        patch.setattr(world.ledger, "insert_callbacks", _dies)
        with pytest.raises(KeyboardInterrupt):
            await world.tell(seen)
    assert world.thread(uuid)["status"] == "QUEUED"
    assert world.store.size(Places(uuid, 1).workflow) is not None
    assert path.exists()
    world.intake._later.clear()
    await world.tell(seen)
    assert world.thread(uuid)["status"] == "SUCCESSFUL"
    assert len(world.children(uuid)) == 1


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


async def test_an_end_whose_action_is_gone_is_archived_and_forgotten(world: World) -> None:
    uuid = UUID("01890163-8694-739b-aea5-966c26f8ad91")
    path = world.exited(uuid, output={"n": 1})
    await world.tell()
    assert world.store.size(Places(uuid, 1).workflow) is not None
    assert not path.exists()
    assert world.database.execute("select count(*) from switchyard.action") == [(0,)]


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
    threads_of = world.ledger.threads_of

    async def cancelled_meanwhile(observed: Any) -> Any:
        found = await threads_of(observed)
        world.database.execute("select switchyard.cancel(%s, 'ann', 'no more')", uuid)
        return found

    monkeypatch.setattr(world.ledger, "threads_of", cancelled_meanwhile)
    await world.tell(seen)
    assert world.thread(uuid)["status"] == "CANCELED"
    assert len(world.children(uuid)) == 1


@pytest.mark.parametrize(
    ("workflow", "output", "reason"),
    [
        ("flow", b"{no json", "not JSON"),
        ("flow", b'{"n": NaN}', "not JSON"),
        ("flow", b"[" * 4_000, "not JSON"),
        ("strict", {"m": 1}, "does not fit its schema"),
        ("flow", b'"' + b"x" * 5000 + b'"', "at most 4096 are taken"),
    ],
)
async def test_an_output_that_cannot_be_used_ends_failed(
    worlds: Worlds, workflow: str, output: Any, reason: str
) -> None:
    world = await worlds(FLOWS, caboose={"max_output": 4096})
    uuid = world.queued(world.submit(workflow))
    path = world.exited(uuid, output=output)
    await world.tell()
    thread = world.thread(uuid)
    assert thread["status"] == "FAILED"
    assert reason in thread["error"]
    assert thread["needs_review"]
    assert [child[3] for child in world.children(uuid)] == [{"n": None}]
    assert not path.exists()
    before = world.events(uuid)
    world.exited(uuid)
    await world.tell(*world.source._scan())
    assert world.events(uuid) == before, "told again, it is only forgotten"


async def test_an_output_of_200_mb_is_refused_without_being_read(world: World, tmp_path: Path) -> None:
    uuid = world.queued(world.submit())
    path = world.exited(uuid, output={"n": 1})
    with (tmp_path / "store" / Places(uuid, 1).output).open("r+b") as file:
        file.truncate(200_000_000)
    tracemalloc.start()
    await world.tell()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert world.thread(uuid)["status"] == "FAILED"
    assert "is 200000000 bytes" in world.thread(uuid)["error"]
    assert peak < 20 * 2**20
    assert not path.exists()


async def test_a_large_output_is_used_all_the_same(world: World) -> None:
    uuid = world.queued(world.submit())
    world.exited(uuid, output={"n": 7, "text": "x" * 2_000_000})
    await world.tell()
    assert world.children(uuid) == [("done", "hook", None, {"n": 7}, "PENDING")]


@pytest.fixture
def disk() -> Iterator[Disk]:
    with closing(obtain("A disk that can be filled", Disk)) as made:
        yield made


@pytest.mark.parametrize(("spoil", "reason"), [(Disk.fill, "the disk is full"), (Disk.protect, "read-only")])
async def test_a_store_that_is_full_or_read_only_keeps_the_execution_and_tells_the_inbox(
    worlds: Worlds, disk: Disk, spoil: Callable[[Disk], None], reason: str
) -> None:
    world = await worlds(FLOWS, store=open_store(disk.folder.as_uri()))
    world.store.put("something", b"a disk of no size at all cannot be made")
    spoil(disk)
    uuids = [world.queued(world.submit()) for _ in range(3)]
    paths = [world.exited(uuid) for uuid in uuids]
    await world.tell()
    assert all(path.exists() for path in paths)
    assert {world.thread(uuid)["status"] for uuid in uuids} == {"QUEUED"}
    ((subject, error),) = world.inbox("archive")
    assert subject == world.store.url
    assert reason in error
    disk.free()
    world.intake._later = [(0.0, *rest) for _, *rest in world.intake._later]  # type: ignore[misc]
    await world.tell()
    assert {world.thread(uuid)["status"] for uuid in uuids} == {"SUCCESSFUL"}
    assert not any(path.exists() for path in paths)
    assert world.inbox("archive") == [], "it is over by itself"


async def test_what_another_caboose_told_of_the_store_is_over_with_the_first_archive(world: World) -> None:
    await world.ledger.notice("archive", world.store.url, "executions cannot be archived", "k", {})
    await world.ledger.notice("archive", "s3://another", "executions cannot be archived", "k", {})
    world.database.execute(
        "insert into switchyard.journal (kind, subject, actor, needs_review) values ('archive', %s, 'ann', true)",
        world.store.url,
    )
    world.exited(world.queued(world.submit()))
    await world.tell()
    assert world.database.execute("select subject, actor from switchyard.journal where needs_review") == [
        ("s3://another", "caboose"),
        (world.store.url, "ann"),
    ]


async def test_an_execution_whose_action_ended_is_stopped_and_noted_once(world: World) -> None:
    uuid = world.queued(world.submit())
    path = world.started(uuid)
    world.database.execute("select switchyard.cancel(%s, 'ann', 'no more')", uuid)
    running = Observation(uuid, 1, Status.RUNNING)
    await world.tell(running)
    assert (path / "stop").exists()
    await world.tell(running)
    assert [event[0] for event in world.events(uuid)].count("INFO") == 1


async def test_running_told_after_the_end_is_old_news(world: World) -> None:
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


async def test_a_failure_that_is_told_again_after_the_retry_is_only_forgotten(world: World) -> None:
    uuid = world.queued(world.submit("stubborn"))
    path = world.exited(uuid, 1)
    (seen,) = world.source._scan()
    await world.tell(seen)
    world.exited(uuid, 1)
    before = world.events(uuid)
    await world.tell(seen)
    assert world.events(uuid) == before
    assert not path.exists()


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


async def test_a_database_that_fails_midway_repeats_only_what_is_not_settled(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    uuid = world.queued(world.submit())
    path = world.exited(uuid)
    note = Observation(uuid, 1, Status.INFO, detail={"progress": 0.5})
    with monkeypatch.context() as patch:
        patch.setattr(world.ledger, "callbacks_made", _away)
        with pytest.raises(DatabaseUnavailable):
            await world.tell(note, *world.source._scan())
    assert world.intake.waiting == 1, "the end, and not the note"
    world.intake._later = [(0.0, *rest) for _, *rest in world.intake._later]  # type: ignore[misc]
    assert await world.completer.run_once() is None
    assert [event[0] for event in world.events(uuid)] == ["QUEUED", "INFO", "SUCCESSFUL"]
    assert not path.exists()


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


async def test_a_run_that_nobody_opened_goes_to_the_inbox_once(world: World) -> None:
    uuid = world.queued(world.submit())
    for _ in range(2):
        await world.tell(Observation(uuid, 9, Status.SUCCESSFUL))
    ((subject, error),) = world.inbox("strange_run")
    assert subject == str(uuid)
    assert "run 9" in error
    assert world.thread(uuid)["status"] == "QUEUED"


async def test_the_same_end_twice_in_one_batch_is_one_end(world: World) -> None:
    uuid = world.queued(world.submit())
    world.exited(uuid, output={"n": 1})
    (seen,) = world.source._scan()
    await world.tell(seen, seen)
    assert [event[0] for event in world.events(uuid)] == ["QUEUED", "SUCCESSFUL"]
    assert len(world.children(uuid)) == 1


async def test_without_the_lease_nothing_is_recorded_and_everything_is_kept(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    uuid = world.queued(world.submit())
    path = world.exited(uuid, output={"n": 1})
    (seen,) = world.source._scan()
    with monkeypatch.context() as patch:
        patch.setattr(world.source, "in_charge", lambda: False)
        await world.tell(seen)
        assert world.intake.waiting == 1
    held = iter([True, False])
    with monkeypatch.context() as patch:
        patch.setattr(world.source, "in_charge", lambda: next(held))
        world.intake._later = [(0.0, 0, seen)]
        with pytest.raises(NotInCharge, match="another caboose may hold the lease"):
            await world.completer.run_once()
    assert world.intake.waiting == 1
    assert [event[0] for event in world.events(uuid)] == ["QUEUED"]
    assert path.exists()


async def test_an_end_that_the_database_refuses_holds_up_no_other(world: World) -> None:
    refused, taken = (world.queued(world.submit()) for _ in range(2))
    world.database.execute(
        "create function public.refuse() returns trigger language plpgsql as"
        " $$ begin raise exception 'not this one' using errcode = 'check_violation'; end $$"
    )
    with world.database.connect() as connection:
        connection.execute(
            sql.SQL(
                "create trigger refuse before insert on switchyard.event for each row"
                " when (new.action_uuid = {}) execute function public.refuse()"
            ).format(str(refused))
        )
    for uuid in (refused, taken):
        world.exited(uuid, output={"n": 1})
    await world.tell()
    assert [world.thread(uuid)["status"] for uuid in (refused, taken)] == ["QUEUED", "SUCCESSFUL"]
    ((subject, error),) = world.inbox("end")
    assert subject == str(refused)
    assert "the end of run 1 could not be recorded" in error
    assert "not this one" in error
    assert world.intake.waiting == 1


async def test_what_cannot_be_done_now_is_done_later(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fails(*_: Any) -> Any:
        raise Transient("no answer")

    uuid, cancelled = (world.queued(world.submit()) for _ in range(2))
    await world.tell(Observation(uuid, 1, Status.INFO, acknowledge=fails))
    assert "could not acknowledge" in caplog.text
    path = world.exited(uuid, output={"n": 1})
    (seen,) = world.source._scan()
    with monkeypatch.context() as patch:
        patch.setattr(world.source, "log", fails)
        await world.tell(seen)
    assert "could not archive" in caplog.text
    assert world.thread(uuid)["status"] == "QUEUED"
    world.intake._later.clear()
    with monkeypatch.context() as patch:
        patch.setattr(world.source, "forget", fails)
        await world.tell(seen)
    assert "could not forget" in caplog.text
    assert world.thread(uuid)["status"] == "SUCCESSFUL"
    assert path.exists()
    await world.completer.run_once()
    assert not path.exists()
    world.database.execute("select switchyard.cancel(%s, 'ann', 'no more')", cancelled)
    with monkeypatch.context() as patch:
        patch.setattr(world.source, "stop_execution", fails)
        await world.due.run_once()
    assert "an end could not be followed up" in caplog.text
    assert world.thread(cancelled)["callbacks_due"]
    await world.due.run_once()
    assert not world.thread(cancelled)["callbacks_due"]


async def test_a_process_that_died_with_its_supervisor_is_failed(world: World) -> None:
    uuid = world.queued(world.submit())
    (world.started(uuid) / record.LOCK).touch()
    await world.tell()
    assert world.thread(uuid)["status"] == "FAILED"
    assert "died without telling how it ended" in world.thread(uuid)["error"]


async def test_what_runs_for_an_action_that_is_gone_is_stopped_once(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    monkeypatch.setattr(cancel, "REMEMBERED", 1)
    for last in ("1", "2"):
        uuid = UUID(f"01890163-8694-739b-aea5-966c26f8ad9{last}")
        path = world.started(uuid)
        for _ in range(2):
            await world.tell(Observation(uuid, 1, Status.RUNNING))
        assert (path / "stop").exists()
    assert caplog.text.count("its action is gone from the ledger") == 2
    assert len(world.completer._stopper._noted) == 1


async def test_a_cancel_is_heard_and_a_lost_connection_is_told(world: World) -> None:
    rung = asyncio.Event()
    ears = asyncio.create_task(cancel.Ears(world.database.url, rung.set).run_once())
    listening = (
        "select pid from pg_stat_activity where application_name = 'caboose listen' and query like 'listen%%'"
    )
    async with asyncio.timeout(20):
        await asyncio.to_thread(until, lambda: world.database.execute(listening), 20)
        rung.clear()
        uuid = world.queued(world.submit())
        world.database.execute("select switchyard.cancel(%s, 'ann', 'no more')", uuid)
        await rung.wait()
        world.database.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'caboose listen'"
        )
        with pytest.raises(DatabaseUnavailable):
            await ears


async def test_a_connection_that_dies_within_a_transaction_is_told(world: World) -> None:
    async def broken() -> None:
        async with world.ledger.transaction():
            world.database.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'caboose test'"
            )
            connection = await world.ledger._open()
            await connection.execute("select 1")

    with pytest.raises(DatabaseUnavailable):
        await broken()


async def test_a_row_that_was_taken_away_is_written_anew(world: World) -> None:
    presence = Presence(uuid4(), world.ledger, world.config, world.means.metrics, serves=["run"])
    await presence.run_once()
    assert world.database.execute("select kind, state from switchyard.fleet") == [("caboose", "running")]


async def _away(*_: Any) -> Any:
    raise DatabaseUnavailable("the database is away")


async def _dies(*_: Any, **__: Any) -> Any:
    """As a kill would: an exception that nothing on the way catches."""
    raise KeyboardInterrupt
