"""Delivery at every step: the session dies before or after each statement of a dispatch, then another follows.

A conductor that is killed is a session that ends between two statements, with everything in memory gone. The
first worker's session is severed at the n-th statement, before or just after the server has run it; a second
worker then takes over. Whatever the step, every action ends once, and at_most_once is never called twice.
"""

from collections.abc import Callable, Mapping
from typing import Any, LiteralString

import pytest

from conductor.outcomes.decide import MAY_HAVE_BEEN_SENT
from conductor.session.session import Session, SessionLost
from switchyard.handlers import Retry
from tests.integration.conductor.yard import Script, Yard, ended_once
from tests.waiting import eventually

pytestmark = pytest.mark.database

# register, bell, listen, orphans, claim, settle, unlock, end; at_most_once says running after the claim
STEPS = range(1, 9)
STEPS_AT_MOST_ONCE = range(1, 10)


class Fuse:
    """Severs the session of the first worker at one statement; burns once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, step: int, *, after: bool) -> None:
        self.count = 0
        self.burnt = False
        genuine: Callable[..., Any] = Session.rows

        async def rows(
            session: Session, statement: LiteralString, values: Mapping[str, Any] | None = None
        ) -> list[Any]:
            self.count += 1
            due = not self.burnt and self.count == step
            if due and not after:
                self._burn(session)
            found: list[Any] = await genuine(session, statement, values)
            if due and after:
                self._burn(session)
            return found

        monkeypatch.setattr(Session, "rows", rows)

    def _burn(self, session: Session) -> None:
        self.burnt = True
        session.sever("killed by the test")
        raise SessionLost("killed by the test")


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("step", STEPS_AT_MOST_ONCE)
@pytest.mark.parametrize("batch", [False, True], ids=["single", "batch"])
async def test_at_most_once(
    yard: Yard, monkeypatch: pytest.MonkeyPatch, step: int, after: bool, batch: bool
) -> None:
    uuids = yard.submit(3)
    handler = None if batch else Script()
    fuse = Fuse(monkeypatch, step, after=after)
    served = yard.served(handler, delivery="at_most_once")
    await yard.drain(served)
    assert fuse.burnt
    assert ended_once(yard, uuids)
    assert set(yard.statuses()) <= {"SUCCESSFUL", "FAILED"}
    if handler is not None:
        assert max(handler.seen.values(), default=0) <= 1
        failed = yard.statuses().get("FAILED", 0)
        assert handler.seen.total() >= 3 - failed


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("step", STEPS)
async def test_at_least_once(yard: Yard, monkeypatch: pytest.MonkeyPatch, step: int, after: bool) -> None:
    uuids = yard.submit(3)
    handler = Script()
    fuse = Fuse(monkeypatch, step, after=after)
    await yard.drain(yard.served(handler))
    assert fuse.burnt
    assert ended_once(yard, uuids)
    assert yard.statuses() == {"SUCCESSFUL": 3}
    assert set(handler.seen) == set(uuids)
    assert [len(yard.events(uuid)) for uuid in uuids] == [1, 1, 1]


async def test_at_most_once_retries_only_where_nothing_was_sent(yard: Yard) -> None:
    [refused] = yard.submit(1)
    answers = iter([Retry("refused", sent=False), Retry("no answer", sent=True)])
    handler = Script(lambda _: next(answers))
    served = yard.served(handler, delivery="at_most_once", retry={"base": "1ms", "max": "1ms"})
    await yard.drain(served)
    await yard.drain(served)
    assert [status for status, _, _ in yard.events(refused)] == ["RUNNING", "BACKOFF", "RUNNING", "FAILED"]
    [[error, review]] = yard.database.execute("select error, needs_review from switchyard.thread")
    assert error == MAY_HAVE_BEEN_SENT + "no answer"
    assert review


async def test_a_stop_in_mid_dispatch_is_reported_where_it_may_have_been_sent(yard: Yard) -> None:
    [uuid] = yard.submit(1)
    handler = Script()
    handler.gate.clear()
    yard.start(yard.served(handler, delivery="at_most_once"), grace="50ms")
    await eventually(lambda: handler.flying == 1)
    await yard.stop()
    assert [status for status, _, _ in yard.events(uuid)] == ["RUNNING", "FAILED"]
