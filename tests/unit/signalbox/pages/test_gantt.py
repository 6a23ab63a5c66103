"""When the steps of a graph waited and ran."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from signalbox.pages.gantt import draw_gantt
from signalbox.records.graph import Step

BEGIN = datetime(2026, 11, 16, 21, 0, tzinfo=UTC)
NOW = BEGIN + timedelta(minutes=100)


def step(name: str, *after: str, status: str, ran: tuple[int, int | None] | None = None) -> Step:
    """Submitted with all others at `BEGIN`; it ran from one minute to another."""
    times = [None if minute is None else BEGIN + timedelta(minutes=minute) for minute in ran or (None, None)]
    uuid = UUID(int=int(BEGIN.timestamp() * 1000) << 80)
    return Step(
        name=name, action_uuid=uuid, action_name="argo", after=list(after), status=status, run=1, attempt=1,
        started_at=times[0], ended_at=times[1],
    )  # fmt: skip


def test_a_step_waits_from_the_last_end_of_what_it_waits_for() -> None:
    drawn = draw_gantt(
        [
            step("a", status="SUCCESSFUL", ran=(10, 20)),
            step("b", status="FAILED", ran=(0, 40)),
            step("c", "a", "b", status="RUNNING", ran=(60, None)),
            step("d", "c", status="PENDING"),
            step("e", "a", status="PENDING"),
        ],
        NOW,
    )
    assert (drawn.begin, drawn.end) == (BEGIN, NOW)
    bars = [[(bar.kind, bar.x, bar.width) for bar in line.bars] for line in drawn.lines]
    assert bars == [
        [("q", 0, 10), ("ok", 10, 10)],
        [("q", 0, 0.5), ("bad", 0, 40)],
        [("q", 40, 20), ("r", 60, 40)],
        [],
        [("wait", 20, 80)],
    ]
    assert [(line.waited, line.ran) for line in drawn.lines] == [
        (600, 600),
        (0, 2400),
        (1200, 2400),
        (None, None),
        (None, None),
    ]


def test_the_axis_of_an_ended_graph_ends_with_its_last_step() -> None:
    drawn = draw_gantt([step("a", status="SUCCESSFUL", ran=(10, 20))], NOW)
    assert drawn.end == BEGIN + timedelta(minutes=20)


@pytest.mark.parametrize("ran", [(-5, -1), (500, 400), (0, 0), (100, 100)])
def test_no_bar_leaves_the_axis_whatever_the_clocks_recorded(ran: tuple[int, int]) -> None:
    drawn = draw_gantt(
        [step("a", status="SUCCESSFUL", ran=(5, 50)), step("b", "a", status="FAILED", ran=ran)], NOW
    )
    for line in drawn.lines:
        for bar in line.bars:
            assert 0 <= bar.x <= 99.5
            assert 0 < bar.width <= 100 - bar.x
