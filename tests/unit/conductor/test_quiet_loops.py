"""Loops that found nothing sleep until a notification or the pulse wakes them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest

from conductor.maintenance.own_session import OwnSession
from conductor.maintenance.settle import Settle
from conductor.maintenance.ticks import LONGEST_PAUSE, Ticks
from conductor.metrics import ConductorMetrics


class Answers:
    """A session that answers every query with the same rows."""

    def __init__(self, *rows: list[Any]) -> None:
        self._rows = list(rows)

    async def rows(self, *_: Any) -> list[list[Any]]:
        return self._rows

    @asynccontextmanager
    async def session(self) -> AsyncIterator["Answers"]:
        yield self

    async def close(self) -> None:
        """Nothing is open."""


def own(*rows: list[Any]) -> OwnSession:
    return cast("OwnSession", Answers(*rows))


async def test_nothing_waits_for_others() -> None:
    assert await Settle(own([False]), own(), ConductorMetrics().maintenance).run_once() is None


@pytest.mark.parametrize(("next_tick", "pause"), [(None, None), (1.5, 1.5), (3600.0, LONGEST_PAUSE)])
async def test_schedules_are_watched_closely_only_where_there_are_some(
    next_tick: float | None, pause: float | None
) -> None:
    pending = own([next_tick, 0, False])
    assert await Ticks(pending, own(), ConductorMetrics().maintenance).run_once() == pause
