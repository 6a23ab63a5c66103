"""The table of what a worker holds: what waits to be written, and since when."""

from typing import cast
from uuid import uuid4

from conductor.action import ClaimedAction, Decision
from conductor.dispatch.inflight import InFlight
from switchyard.handlers import Work
from tests.unit.conductor.clock import Clock


def claimed() -> ClaimedAction:
    return ClaimedAction(uuid4(), 1, 1, 0, cast("Work", None))


def test_how_long_outcomes_have_waited_is_counted_from_the_first() -> None:
    clock = Clock()
    table = InFlight(clock)
    actions = [claimed() for _ in range(3)]
    table.add(actions)
    assert (len(table), table.undecided, table.decided) == (3, 3, 0)
    clock.now = 10.0
    table.decide(actions[0], Decision("SUCCESSFUL"))
    clock.now = 20.0
    table.decide(actions[1], Decision("SUCCESSFUL"))
    assert table.first_decided_at == 10.0
    assert (table.undecided, table.decided, table.blocked) == (1, 2, 0)
    table.take(decided=True, blocked=False)
    clock.now = 30.0
    table.decide(actions[2], Decision("SUCCESSFUL"))
    assert table.first_decided_at == 30.0
