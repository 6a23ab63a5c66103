"""Leader election: one works, one stands by and takes over, and whoever was deposed cannot write."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from uuid import uuid4

import pytest

from caboose.isolate import NotLeader
from caboose.leader import Leader
from caboose.presence import Presence
from caboose.queries import Queries
from switchyard.errors import DatabaseUnavailable
from tests.integration.caboose.conftest import FLOWS, Worlds
from tests.integration.caboose.world import World
from tests.parts.database import Database

NAME = "argo/workflows argo 0/1"


@pytest.fixture
async def pair(database: Database) -> AsyncIterator[tuple[Leader, Leader]]:
    queries = [Queries(database.url, f"candidate {number}") for number in range(2)]
    yield Leader(queries[0], NAME), Leader(queries[1], NAME)
    for each in queries:
        await each.close()


async def _leads(candidate: Leader, meanwhile: Callable[[], Awaitable[object]] | None = None) -> None:
    """Wait until it leads: the server releases the other's lock some time after the connection was closed."""
    async with asyncio.timeout(60):
        while not await candidate.look():
            await asyncio.sleep(0.05)
            if meanwhile is not None:
                await meanwhile()


def terminate(database: Database, name: str) -> None:
    database.execute(
        "select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = %s", name
    )


async def test_of_two_only_one_leads_and_the_other_follows_when_it_ends(pair: tuple[Leader, Leader]) -> None:
    first, second = pair
    assert await first.look()
    assert not await second.look()
    assert await first.look(), "and goes on leading"
    await first._queries.close()
    assert not first.leads
    await _leads(second)
    assert not await first.look()


async def test_sources_and_shards_have_each_a_leader_of_their_own(database: Database) -> None:
    queries = [Queries(database.url, f"candidate {number}") for number in range(3)]
    names = [NAME, "argo/workflows argo 1/2", "argo/other argo 0/1"]
    assert all([await Leader(each, name).look() for each, name in zip(queries, names, strict=True)])
    assert await Leader(queries[0]).look(), "without a name there is nothing to elect"
    for each in queries:
        await each.close()


async def test_a_leader_whose_session_was_terminated_stands_by(
    database: Database, pair: tuple[Leader, Leader]
) -> None:
    first, second = pair
    assert await first.look()
    terminate(database, "candidate 0")
    assert await second.look()
    with pytest.raises(DatabaseUnavailable):
        await first.look()
    assert not first.leads
    assert not await first.look()


async def test_a_leader_that_hangs_is_replaced_although_no_conductor_runs(
    worlds: Worlds, database: Database
) -> None:
    world = await worlds(FLOWS, workers={"beat": "50ms", "lost_after": "200ms"})
    hung, ours = uuid4(), uuid4()
    database.execute(
        "insert into switchyard.worker (worker_id, kind, host) values (%s, 'caboose', 'a'), (gen_random_uuid(), 'conductor', 'a')",
        hung,
    )
    one, two = (Queries(database.url, f"caboose {worker} complete") for worker in (hung, ours))
    leader, standby = Leader(one, NAME), Leader(two, NAME)
    presence = Presence(
        *(ours, world.queries, world.config, world.services.metrics),
        serves=["run"],
        stands_by=lambda: not standby.leads,
    )
    await presence.register()
    assert await leader.look()
    await _leads(standby, presence.run_once)
    lost = database.execute("select kind from switchyard.worker where lost_at is not null")
    assert lost == [("caboose",)], "the standby lives, and conductors are for other conductors to mark"
    assert [row[0] for row in world.inbox("lost_worker")] == [str(hung)]
    for each in (one, two):
        await each.close()


async def test_a_stream_ends_and_starts_with_the_leadership(
    database: Database, pair: tuple[Leader, Leader]
) -> None:
    """Whatever was reported meanwhile was dropped, and has to be reported again."""
    first, _ = pair
    streams = 0

    async def stream() -> AsyncIterator[int]:
        nonlocal streams
        streams += 1
        yield streams
        await asyncio.Event().wait()

    given = first.while_leading(stream)
    waiting = asyncio.ensure_future(anext(given))
    await asyncio.sleep(0)
    assert streams == 0, "a standby observes nothing"
    assert await first.look()
    async with asyncio.timeout(60):
        assert await waiting == 1
        waiting = asyncio.ensure_future(anext(given))
        terminate(database, "candidate 0")
        with pytest.raises(DatabaseUnavailable):
            await first.look()
        assert await first.look()
        assert await waiting == 2
    await given.aclose()  # type: ignore[attr-defined]  # it is a generator


async def test_a_deposed_leader_records_nothing_and_deletes_nothing(
    worlds: Worlds, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = await worlds(FLOWS, leader_name=NAME)
    uuid = world.queued(world.submit())
    path = world.exited(uuid, output={"n": 1})
    archive = world.completer._archiver.archive

    async def deposed(cases: Any) -> Any:
        found = await archive(cases)
        await world.queries.close()  # as where it was terminated: its next statement opens a new session
        return found

    with monkeypatch.context() as patch:
        patch.setattr(world.completer._archiver, "archive", deposed)
        with pytest.raises(NotLeader):
            await world.tell()
    assert [event[0] for event in world.events(uuid)] == ["QUEUED"]
    assert path.exists()
    assert world.intake.waiting == 1
    await finished(world)
    assert world.thread(uuid)["status"] == "SUCCESSFUL", "it leads again, and nothing was lost"


async def test_a_session_lost_inside_the_transaction_rolls_back(
    worlds: Worlds, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = await worlds(FLOWS, leader_name=NAME)
    uuid = world.queued(world.submit())
    world.exited(uuid, output={"n": 1})
    insert = world.queries.insert_events

    async def terminated(events: Any) -> None:
        await insert(events)
        terminate(database, "caboose test")

    with monkeypatch.context() as patch:
        patch.setattr(world.queries, "insert_events", terminated)
        with pytest.raises(DatabaseUnavailable):
            await world.tell()
    assert [event[0] for event in world.events(uuid)] == ["QUEUED"]
    await finished(world)


async def test_a_standby_leaves_everything_to_the_leader(worlds: Worlds, database: Database) -> None:
    world = await worlds(FLOWS, leader_name=NAME)
    other = Queries(database.url, "the leader")
    assert await Leader(other, NAME).look()
    uuid = world.queued(world.submit())
    path = world.exited(uuid, output={"n": 1})
    await world.tell()
    assert path.exists()
    assert world.thread(uuid)["status"] == "QUEUED"
    await other.close()
    await _leads(world.leader)
    await world.tell(*())
    assert world.thread(uuid)["status"] == "SUCCESSFUL"


async def finished(world: World) -> None:
    world.intake._later = [(0.0, *rest) for _, *rest in world.intake._later]  # type: ignore[misc]
    await world.completer.run_once()
    assert world.source._scan() == []
