"""JSONPaths and schemas that take for ever fail their own action, off the event loop."""

import asyncio

import pytest

from tests.integration.caboose.conftest import FLOWS, Worlds
from tests.integration.caboose.doing import longest_pause, recorded
from tests.integration.caboose.world import World

REGEX = {"path": "$.input[?match(@, '(a|aa)+b')]"}
TOWER = {"path": "$.input['s']" + "[*,*,*,*,*,*,*,*,*,*]" * 9}


@pytest.mark.parametrize("path", [REGEX, TOWER])
async def test_hole_2_a_path_without_end_fails_its_own_callback_and_no_other(
    world: World, path: dict[str, str]
) -> None:
    own = [{"name": "own", "action": "hook", "parameters": {"x": path}}]
    parameters = {"n": "a" * 60, "s": [[[[[[[[[[1]]]]]]]]]] * 10}
    hostile = world.queued(world.submit(parameters=parameters, callbacks=own))
    other = world.queued(world.submit())
    for uuid in (hostile, other):
        world.exited(uuid, output={"n": 1})
    lag = asyncio.create_task(longest_pause())
    await world.tell()
    assert recorded(world, [hostile, other]) == ["SUCCESSFUL", "SUCCESSFUL"]
    assert {child[0]: child[4] for child in world.children(hostile)} == {"done": "PENDING", "own": "INVALID"}
    lag.cancel()
    assert await lag < 1.0, "the event loop was never blocked"


async def test_security_h3_a_configured_filter_finds_the_same_as_in_place(worlds: Worlds) -> None:
    each = {
        "name": "each",
        "action": "hook",
        "for": "items",
        "items": "$.output.list[?@.n > 1]",
        "parameters": {
            "n": {"path": "$.item.n"},
            "all": {"path": "$.output..n"},
            "d": {"path": "$.x", "default": 5},
        },
    }
    world = await worlds({"flow": {"action": "run", "callbacks": [each]}})
    uuid = world.queued(world.submit())
    world.exited(uuid, output={"list": [{"n": 1}, {"n": 2}, {"n": 3}]})
    await world.tell()
    assert [child[3] for child in world.children(uuid)] == [
        {"item": {"n": n}, "n": n, "all": [1, 2, 3], "d": 5} for n in (2, 3)
    ]


async def test_security_h4_a_schema_that_takes_for_ever_fails_its_own_workflow_only(worlds: Worlds) -> None:
    pattern = r"^([a-zA-Z0-9]+[._-]?)+@example\.org$"
    world = await worlds({**FLOWS, "slow": {"action": "run", "output_schema": {"pattern": pattern}}})
    hostile, other = world.queued(world.submit("slow")), world.queued(world.submit())
    world.exited(hostile, output="a" * 40)
    world.exited(other, output={"n": 1})
    lag = asyncio.create_task(longest_pause())
    await world.tell()
    assert recorded(world, [hostile, other]) == ["FAILED", "SUCCESSFUL"]
    assert "exceeded its limit of CPU time" in world.thread(hostile)["error"]
    lag.cancel()
    assert await lag < 1.0
