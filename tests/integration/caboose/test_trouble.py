"""A death, a lost connection, a refusal between any two steps: nothing twice, nothing lost."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg import sql

from caboose.observe.listen import CancelListener
from caboose.presence import Presence
from switchyard.errors import DatabaseUnavailable, Transient
from switchyard.places import Places
from switchyard.sources import Observation
from switchyard.status import Status
from tests.integration.caboose.world import World
from tests.waiting import until


async def test_a_death_after_the_commit_leaves_only_the_forgetting(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    uuid, path, seen = _ended(world)
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
    uuid, path, seen = _ended(world)
    with monkeypatch.context() as patch:
        patch.setattr(world.queries, "insert_callbacks", _dies)
        with pytest.raises(KeyboardInterrupt):
            await world.tell(seen)
    assert world.thread(uuid)["status"] == "QUEUED"
    assert world.store.size(Places(uuid, 1).workflow) is not None
    assert path.exists()
    world.intake._later.clear()
    await world.tell(seen)
    assert world.thread(uuid)["status"] == "SUCCESSFUL"
    assert len(world.children(uuid)) == 1


async def test_a_database_that_fails_midway_repeats_only_what_is_not_settled(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    uuid = world.queued(world.submit())
    path = world.exited(uuid)
    note = Observation(uuid, 1, Status.INFO, detail={"progress": 0.5})
    with monkeypatch.context() as patch:
        patch.setattr(world.queries, "callbacks_made", _away)
        with pytest.raises(DatabaseUnavailable):
            await world.tell(note, *world.source._scan())
    assert world.intake.waiting == 1, "the end, and not the note"
    world.intake._later = [(0.0, *rest) for _, *rest in world.intake._later]  # type: ignore[misc]
    assert await world.completer.run_once() is None
    assert [event[0] for event in world.events(uuid)] == ["QUEUED", "INFO", "SUCCESSFUL"]
    assert not path.exists()


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


async def test_a_cancel_is_received_and_a_lost_connection_is_reported(world: World) -> None:
    rung = asyncio.Event()
    ears = asyncio.create_task(CancelListener(world.database.url, rung.set).run_once())
    listening = (
        "select pid from pg_stat_activity where application_name = 'caboose listen' and query like 'listen%%'"
    )
    async with asyncio.timeout(60):
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


async def test_a_connection_that_dies_within_a_transaction_is_reported(world: World) -> None:
    async def broken() -> None:
        async with world.queries.transaction():
            world.database.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'caboose test'"
            )
            connection = await world.queries._open()
            await connection.execute("select 1")

    with pytest.raises(DatabaseUnavailable):
        await broken()


async def test_a_row_that_was_marked_lost_stays_lost(world: World) -> None:
    presence = Presence(uuid4(), world.queries, world.config, world.services.metrics, serves=["run"])
    await presence.register()
    assert await presence.run_once() is not None
    world.database.execute("update switchyard.worker set lost_at = now()")
    assert await presence.run_once() is None
    assert presence.lost.is_set()
    await presence.end()
    assert world.database.execute("select kind, state from switchyard.fleet") == [("caboose", "lost")]


def _ended(world: World) -> tuple[UUID, Path, Observation]:
    """An action whose process has ended, where that is, and what is to be reported of it."""
    uuid = world.queued(world.submit())
    path = world.exited(uuid, output={"n": 1})
    (seen,) = world.source._scan()
    assert isinstance(seen, Observation)
    return uuid, path, seen


async def _away(*_: Any) -> Any:
    raise DatabaseUnavailable("the database is away")


async def _dies(*_: Any, **__: Any) -> Any:
    """As a kill would: an exception that nothing on the way catches."""
    raise KeyboardInterrupt
