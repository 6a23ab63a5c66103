"""Rows that somebody else has locked delay only themselves."""

import asyncio
import time
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import sql

from switchyard.sources import Observation
from switchyard.status import Status
from tests.integration.caboose.conftest import DONE, FLOWS, Worlds
from tests.integration.caboose.doing import ended_by_others, recorded
from tests.integration.caboose.world import World


class locked:  # noqa: N801 - a context manager
    """Somebody's open transaction over these rows."""

    def __init__(self, world: World, uuids: list[UUID], table: str) -> None:
        self._connection: psycopg.Connection[Any] = psycopg.connect(world.database.url)
        self._connection.execute(
            sql.SQL("select from switchyard.{} where action_uuid = any (%s) for update").format(
                sql.Identifier(table)
            ),
            [uuids],
        )

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        self._connection.rollback()
        self._connection.close()


@pytest.mark.parametrize("table", ["thread", "yard"])
async def test_hole_18_one_locked_row_delays_only_itself(world: World, table: str) -> None:
    uuids = [world.queued(world.submit()) for _ in range(20)]
    for uuid in uuids:
        world.exited(uuid, output={"n": 1})
    with locked(world, uuids[:10], table):
        began = time.monotonic()
        await world.tell()
        assert time.monotonic() - began < 10
        assert recorded(world, uuids) == ["QUEUED"] * 10 + ["SUCCESSFUL"] * 10
    await asyncio.sleep(
        1.2
    )  # not a wait for anything that signals: what is set aside comes again after a second
    await world.tell(Observation(uuids[0], 1, None))
    assert recorded(world, uuids) == ["SUCCESSFUL"] * 20


async def test_hole_18_a_locked_row_delays_no_progress_timeout_or_due_callback(worlds: Worlds) -> None:
    world = await worlds({**FLOWS, "late": {"action": "run", "timeout": "1s", "callbacks": [DONE]}})
    running = [world.queued(world.submit()) for _ in range(3)]
    late = [world.queued(world.submit("late")) for _ in range(3)]
    world.database.execute("update switchyard.thread set started_at = now() - interval '1 hour'")
    due = [ended_by_others(world) for _ in range(3)]
    with locked(world, [running[0], late[0], due[0]], "thread"):
        await world.tell(*(Observation(uuid, 1, Status.RUNNING) for uuid in running))
        await world.timeouts.run_once()
        await world.due.run_once()
    assert recorded(world, running) == ["QUEUED", "RUNNING", "RUNNING"]
    assert recorded(world, late) == ["QUEUED", "TIMED_OUT", "TIMED_OUT"]
    assert [len(world.children(uuid)) for uuid in due] == [0, 1, 1]
