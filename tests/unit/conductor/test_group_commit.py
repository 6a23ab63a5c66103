"""Outcomes are recorded once their data is stored, in groups, and without it where it cannot be stored."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from conductor.dispatch import group_commit
from switchyard.handlers import Draft, Outcome, Success, Work
from tests.unit.conductor.dispatching import Dispatching


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


async def begun(handler: Drafting) -> Dispatching:
    """One that is being stored, and three that wait for it."""
    dispatching = Dispatching(handler)
    dispatching.start(work())
    await handler.entered.wait()
    for _ in range(3):
        dispatching.start(work())
    await asyncio.sleep(0)
    return dispatching


async def test_what_comes_meanwhile_is_the_next_group() -> None:
    handler = Drafting()
    dispatching = await begun(handler)
    table = dispatching.table
    assert (table.undecided, table.decided, len(set(table.uuids))) == (4, 0, 4)
    assert all(uuid in table for uuid in table.uuids)
    handler.gate.set()
    outcomes = await dispatching.outcomes()
    assert [outcome.detail["kept"] for outcome in outcomes] == [True] * 4
    assert handler.groups == [1, 3]


async def test_what_cannot_be_stored_is_recorded_without_it() -> None:
    handler = Drafting(OSError("no room"))
    dispatching = await begun(handler)
    handler.gate.set()
    outcomes = await dispatching.outcomes()
    assert [list(outcome.detail) for outcome in outcomes] == [["uuid"]] * 4


async def test_a_handler_that_never_ends_storing_delays_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_commit, "WITHIN", 0.01)
    dispatching = await begun(Drafting())
    assert len(await dispatching.outcomes()) == 4


async def test_a_stop_does_not_take_an_outcome_back() -> None:
    dispatching = await begun(Drafting())
    await dispatching.pipeline.release()
    assert (dispatching.table.undecided, dispatching.table.decided) == (0, 4)


async def test_a_lost_session_forgets_them() -> None:
    dispatching = await begun(Drafting())
    await dispatching.pipeline.abandon()
    assert len(dispatching.table) == 0
