"""Worlds for the tests of caboose's core."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.integration.caboose.world import World, build
from tests.parts.database import Database

Worlds = Callable[..., Awaitable[World]]

DONE = {"name": "done", "action": "hook", "parameters": {"n": {"path": "$.output.n"}}}
FLOWS: dict[str, Any] = {
    "flow": {"action": "run", "callbacks": [DONE]},
    "stubborn": {"action": "run", "retry": {"attempts": 3, "base": "1s"}, "callbacks": [DONE]},
    "strict": {"action": "run", "output_schema": {"required": ["n"]}, "callbacks": [DONE]},
}


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


@pytest.fixture
async def world(worlds: Worlds) -> World:
    """One with a workflow, one that is retried, and one whose output is checked; each calls back."""
    return await worlds(FLOWS)
