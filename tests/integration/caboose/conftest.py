"""Worlds for the tests of caboose's core."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.integration.caboose.world import World, build
from tests.parts.database import Database

Worlds = Callable[..., Awaitable[World]]


@pytest.fixture
async def worlds(database: Database, tmp_path: Path) -> AsyncIterator[Worlds]:
    """Makes worlds, and closes them."""
    made: list[World] = []

    async def make(workflows: dict[str, Any], **more: Any) -> World:
        made.append(await build(database, tmp_path, workflows, **more))
        return made[-1]

    yield make
    for world in made:
        await world.close()
