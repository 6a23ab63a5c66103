"""One row that cannot be read, or is too large, delays only itself."""

import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID

import pytest
from psycopg import sql

from tests.integration.caboose.conftest import Worlds
from tests.integration.caboose.doing import ended_by_others, recorded
from tests.integration.caboose.world import World
from tests.integration.deep import reads

BIG_NUMBER = '{"a": 1e5000}'
DEEP = '{"a": ' + "[" * 3000 + "]" * 3000 + "}"


@pytest.fixture
def unchecked(world: World) -> None:
    """Rows as they were accepted before there were constraints on what Python can read."""
    with world.database.connect() as connection:
        found = connection.execute(
            "select conname from pg_constraint where conrelid = 'switchyard.action'::regclass and contype = 'c' "
            "and (conname like 'parameters%' or conname like 'callbacks%')"
        ).fetchall()
        for (name,) in found:
            drop = sql.SQL("alter table switchyard.action drop constraint {}").format(sql.Identifier(name))
            connection.execute(drop)


@pytest.mark.parametrize("parameters", [BIG_NUMBER, DEEP])
@pytest.mark.usefixtures("unchecked")
async def test_hole_3_one_end_that_cannot_be_decoded_stops_no_other(world: World, parameters: str) -> None:
    poison = ended_by_others(world, parameters)
    others = [ended_by_others(world) for _ in range(3)]
    await world.due.run_once()
    assert [len(world.children(uuid)) for uuid in others] == [1, 1, 1]
    ((_, _, _, _, status),) = world.children(poison)
    assert status == ("PENDING" if parameters == DEEP and reads(DEEP) else "INVALID"), (
        "its callback is there to be seen"
    )
    assert not world.thread(poison)["callbacks_due"]


@pytest.mark.parametrize("callbacks", ["[1e5000]", "[" * 3000 + "]" * 3000])
@pytest.mark.usefixtures("unchecked")
async def test_security_h2_own_callbacks_that_cannot_be_decoded_stop_no_other(
    world: World, callbacks: str
) -> None:
    poison = world.queued(world.submit())
    world.database.execute(
        "update switchyard.action set callbacks = %s where action_uuid = %s", callbacks, poison
    )
    other = world.queued(world.submit())
    for uuid in (poison, other):
        world.exited(uuid, output={"n": 1})
    await world.tell()
    assert recorded(world, [poison, other]) == ["SUCCESSFUL", "SUCCESSFUL"]
    assert sorted(child[4] for child in world.children(poison)) == ["INVALID", "PENDING"]
    assert [child[4] for child in world.children(other)] == ["PENDING"]


async def test_hole_3_an_end_whose_partition_was_dropped_gets_its_callbacks(world: World) -> None:
    uuid = ended_by_others(world)
    world.database.execute(
        "update switchyard.thread set ended_at = now() - interval '400 days' where action_uuid = %s", uuid
    )
    await world.due.run_once()
    assert len(world.children(uuid)) == 1


async def test_hole_3_whatever_one_end_raises_is_reported_and_the_next_goes_on(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = ended_by_others(world), ended_by_others(world)
    insert = world.services.callbacks.insert

    async def broken(queries: Any, runs: Mapping[UUID, int], outputs: Any) -> Any:
        if first in runs:
            raise ZeroDivisionError("surprise")
        return await insert(queries, runs, outputs)

    monkeypatch.setattr(type(world.services.callbacks), "insert", lambda _, *given: broken(*given))
    await world.due.run_once()
    assert (len(world.children(first)), len(world.children(second))) == (0, 1)
    ((subject, error),) = world.inbox("callbacks")
    assert subject == str(first)
    assert "surprise" in error


async def test_hole_28_items_that_are_too_large_end_invalid_without_being_sent(
    worlds: Worlds, monkeypatch: pytest.MonkeyPatch
) -> None:
    each = {
        "name": "each",
        "action": "hook",
        "for": "items",
        "items": "$.output.features[*]",
        "parameters": {"all": {"path": "$.output"}},
    }
    world = await worlds({"flow": {"action": "run", "callbacks": [each]}})
    uuid = world.queued(world.submit())
    world.exited(uuid, output={"features": list(range(500)), "text": "x" * 3_000_000})
    sent: list[int] = []
    insert = world.queries.insert_callbacks

    async def counted(pairs: Any) -> Any:
        sent.append(sum(len(json.dumps(planned.parameters)) for _, planned in pairs))
        return await insert(pairs)

    monkeypatch.setattr(world.queries, "insert_callbacks", counted)
    await world.tell()
    assert sum(sent) < 10_000, "measured before anything is encoded"
    rows = world.database.execute(
        "select t.status::text, count(*), max(length(a.parameters::text)) from switchyard.action a "
        "join switchyard.thread t using (action_uuid) where a.parent_uuid = %s group by 1",
        uuid,
    )
    assert rows == [("INVALID", 500, 2)]


async def test_security_m7_one_submit_makes_no_thousand_times_its_size(world: World) -> None:
    own = [
        {
            "name": "own",
            "action": "hook",
            "for": "items",
            "items": "$.input.list[*]",
            "parameters": {"s": {"path": "$.input.s"}},
        }
    ]
    uuid = ended_by_others(
        world,
        json.dumps({"s": "x" * 100_000, "list": list(range(1000))}),
        None,
        name="hook",
        callbacks=json.dumps(own),
    )
    await world.due.run_once()
    ((made, size),) = world.database.execute(
        "select count(*), sum(length(parameters::text)) from switchyard.action where parent_uuid = %s", uuid
    )
    assert made < 200
    assert size < 9_000_000
    ((error,),) = world.database.execute(
        "select t.error from switchyard.thread t join switchyard.action a using (action_uuid) "
        "where a.parent_uuid = %s and t.status = 'INVALID'",
        uuid,
    )
    assert "the callbacks from here on were not made" in error
