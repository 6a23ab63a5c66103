"""What several tests of caboose do with a world."""

import asyncio
import time
from typing import Any
from uuid import UUID

from tests.integration.caboose.world import World


def recorded(world: World, uuids: list[UUID]) -> list[str]:
    return [world.thread(uuid)["status"] for uuid in uuids]


def ended_by_others(world: World, parameters: str = "{}", workflow: str | None = "flow", **more: Any) -> UUID:
    """An action that somebody cancelled: its callbacks are the due sweep's."""
    (row,) = world.database.execute(
        "select switchyard.submit(%s, %s, workflow => %s, callbacks => %s)",
        *(more.get("name", "run"), parameters, workflow, more.get("callbacks")),
    )
    uuid = UUID(str(row[0]))
    world.database.execute("select switchyard.cancel(%s, 'ann', 'no more')", uuid)
    return uuid


async def whole_pass(world: World) -> None:
    while await world.due.run_once() == 0.0:
        continue


async def longest_pause() -> float:
    """The longest time that the event loop took between two turns, until it is cancelled."""
    longest = 0.0
    last = time.monotonic()
    try:
        while True:
            await asyncio.sleep(0.01)
            now = time.monotonic()
            longest, last = max(longest, now - last), now
    except asyncio.CancelledError:
        return longest


async def nothing() -> None:
    """Acknowledges nothing."""
