"""The loop that ends overdue workflows: page after page, and the due sweep is woken for what it ended."""

from typing import Any

import pytest

from tests.integration.caboose.conftest import DONE, Worlds
from tests.integration.caboose.world import World

HASTY: dict[str, Any] = {"hasty": {"action": "run", "timeout": "1ms", "callbacks": [DONE]}}


@pytest.fixture
async def world(worlds: Worlds) -> World:
    return await worlds(HASTY, caboose={"batch": 2, "poll": "7s"})


async def test_a_full_page_is_followed_at_once_and_the_last_one_after_the_poll(world: World) -> None:
    woken: list[None] = []
    world.timeouts._wake = lambda: woken.append(None)
    uuids = [world.queued(world.submit("hasty")) for _ in range(3)]
    world.database.execute("update switchyard.thread set started_at = now() - interval '1 hour'")
    assert await world.timeouts.run_once() == 0.0
    assert len(woken) == 1
    assert await world.timeouts.run_once() == 7.0
    assert len(woken) == 2
    assert [world.thread(uuid)["status"] for uuid in uuids] == ["TIMED_OUT"] * 3
    assert world.thread(uuids[0])["error"] == "no end within 1ms"
    assert await world.timeouts.run_once() is None, "nothing is with a backend"
    assert len(woken) == 2, "nothing was ended"
