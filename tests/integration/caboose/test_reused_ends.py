"""Callbacks of an action that was given the result of another: its own, with that output."""

import json
from typing import Any
from uuid import UUID

import pytest

from tests.integration.caboose.conftest import Worlds
from tests.integration.caboose.world import World
from tests.integration.reuse.rules import settle

FLOWS: dict[str, Any] = {
    "flow": {
        "action": "run",
        "callbacks": [
            {
                "name": "done",
                "action": "hook",
                "parameters": {"n": {"path": "$.output.n"}, "whose": {"path": "$.workflow.uuid"}},
            },
            {"name": "each", "action": "stac", "when": ["SUCCESSFUL"], "for": "items"},
        ],
    },
}
RULE = json.dumps({"version": "1", "key": ["$.scene"], "for": 3600, "shared": False})


@pytest.fixture
async def world(worlds: Worlds) -> World:
    made = await worlds(FLOWS)
    made.database.execute("insert into switchyard.route values ('flow', 'run', null, %s) returning 1", RULE)
    return made


async def test_each_has_its_own_callbacks_with_the_output_that_was_computed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped: list[UUID] = []

    async def stop(uuid: UUID, *_: object) -> None:
        stopped.append(uuid)

    monkeypatch.setattr(world.source, "stop_execution", stop)
    first, second, third = (world.submit(parameters={"scene": 7, "who": who}) for who in range(3))
    with world.database.connect() as connection:
        settle(connection)
        world.queued(first)
        world.exited(first, output={"n": 3, "features": [{"id": "a"}]})
        await world.tell()
        settle(connection)
    while await world.due.run_once() == 0.0:
        continue
    for uuid in (first, second, third):
        expected = [
            ("done", "hook", None, {"n": 3, "whose": str(uuid)}, "PENDING"),
            ("each", "stac", None, {"item": {"id": "a"}}, "PENDING"),
        ]
        assert world.children(uuid) == expected
    assert stopped == []  # what never ran is not stopped
