"""Drafts are told once they are kept, in groups, and stand where they cannot be kept."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from conductor.dispatch import group_commit
from conductor.dispatch.flights import Flights
from switchyard.handlers import Draft, Outcome, Success, Work


class Drafting:
    """Answers at once; what it keeps waits at a gate."""

    def __init__(self, error: Exception | None = None) -> None:
        self.gate, self.entered = asyncio.Event(), asyncio.Event()
        self.groups: list[int] = []
        self._error = error

    async def start(self) -> None: ...
    async def close(self) -> None: ...

    async def dispatch(self, _work: Work, /) -> Outcome:
        raise AssertionError("a worker asks for drafts")

    async def draft(self, work: Work, /) -> Draft:
        detail: dict[str, Any] = {"uuid": work.uuid}
        return Draft(Success(detail), detail)

    async def conclude(self, drafts: Sequence[Draft], /) -> None:
        self.groups.append(len(drafts))
        self.entered.set()
        await self.gate.wait()
        if self._error is not None:
            raise self._error
        for draft in drafts:
            draft.kept["kept"] = True


def work() -> Work:
    return Work(uuid4(), 1, 1, False, "drill", None, None, None, {}, None, datetime.now(UTC))


async def landed(flights: Flights, told: asyncio.Event) -> list[Outcome]:
    while flights.airborne:
        await told.wait()
        told.clear()
    return [one.outcome for one in flights.collect()]


async def begun(handler: Drafting, told: asyncio.Event) -> Flights:
    """One that is being kept, and three that wait for it."""
    flights = Flights(handler, 30.0, told.set)
    flights.start(work(), 0)
    await handler.entered.wait()
    for _ in range(3):
        flights.start(work(), 0)
    await asyncio.sleep(0)
    return flights


async def test_what_comes_meanwhile_is_the_next_group() -> None:
    handler, told = Drafting(), asyncio.Event()
    flights = await begun(handler, told)
    assert (flights.airborne, flights.waiting, len(set(flights.held()))) == (4, 0, 4)
    assert all(flights.holds(uuid) for uuid in flights.held())
    handler.gate.set()
    outcomes = await landed(flights, told)
    assert [outcome.detail["kept"] for outcome in outcomes] == [True] * 4
    assert handler.groups == [1, 3]


async def test_what_cannot_be_kept_is_told_as_it_stands() -> None:
    handler, told = Drafting(OSError("no room")), asyncio.Event()
    flights = await begun(handler, told)
    handler.gate.set()
    outcomes = await landed(flights, told)
    assert [list(outcome.detail) for outcome in outcomes] == [["uuid"]] * 4


async def test_a_handler_that_never_ends_keeping_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_commit, "WITHIN", 0.01)
    handler, told = Drafting(), asyncio.Event()
    flights = await begun(handler, told)
    assert len(await landed(flights, told)) == 4


async def test_a_stop_does_not_take_an_outcome_back() -> None:
    handler, told = Drafting(), asyncio.Event()
    flights = await begun(handler, told)
    assert await flights.cancel() == []
    assert (flights.airborne, flights.waiting) == (0, 4)


async def test_a_lost_session_forgets_them() -> None:
    handler, told = Drafting(), asyncio.Event()
    flights = await begun(handler, told)
    assert await flights.abandon() == 4
    assert len(flights) == 0
