"""Runs, attempts, the path and the timeline, read from events."""

from datetime import UTC, datetime, timedelta
from typing import Any

from signalbox.pages.path import ARROWS, draw_path
from signalbox.pages.story import read_runs
from signalbox.pages.timeline import MOST_ATTEMPTS, draw_timeline
from signalbox.records.jobs import Event
from switchyard.status import ENDS, Status

START = datetime(2026, 11, 16, 21, 24, 40, tzinfo=UTC)
NOW = START + timedelta(hours=1)


def event(seconds: float, status: str, run: int = 1, attempt: int = 1, **given: Any) -> Event:
    at = START + timedelta(seconds=seconds)
    return Event(
        event_id=int(seconds * 1000),
        event_time=at,
        status=status,
        run=run,
        attempt=attempt,
        **{"ignored": False, **given},
    )


TWO_RUNS = [
    event(1, "QUEUED"),
    event(2, "RUNNING"),
    event(2.5, "INFO"),
    event(12, "FAILED", error="worker lost"),
    event(13, "SUCCESSFUL", ignored=True),
    event(60, "PENDING", 2, 0, detail={"actor": "ops", "reason": "the node is back"}),
    event(61, "BACKOFF", 2, 1, error="no connection"),
    event(62, "QUEUED", 2, 2),
    event(63, "RUNNING", 2, 2),
    event(64, "SUCCESSFUL", 2, 2),
]


def test_the_runs_of_an_action_have_their_steps_and_who_opened_them() -> None:
    first, second = read_runs(START, TWO_RUNS)
    assert [step.status for step in first.steps] == ["PENDING", "QUEUED", "RUNNING", "FAILED"]
    assert [step.seconds(NOW) for step in first.steps[:3]] == [1, 1, 10]
    assert (first.status, first.opened_by) == (Status.FAILED, None)
    assert (second.opened_by, second.reason) == ("ops", "the node is back")
    assert second.end == START + timedelta(seconds=64)


def test_an_action_without_events_waits() -> None:
    [run] = read_runs(START, [])
    assert (run.status, run.end) == (Status.PENDING, None)
    [row] = draw_timeline([run], NOW)
    assert row.attempts[0].summary == "pending 1 h"
    assert row.attempts[0].bars[0].width == 100


def test_a_run_that_a_retry_policy_opened_was_opened_by_nobody() -> None:
    events = [event(1, "QUEUED"), event(5, "BACKOFF", 2, 0, error="exit 75", detail={"actor": "x"})]
    assert read_runs(START, events)[1].opened_by is None


def test_the_path_draws_the_last_run_through_and_earlier_ones_dashed() -> None:
    drawing = draw_path(read_runs(START, TWO_RUNS), NOW)
    kinds = dict(drawing.arrows)
    assert kinds[ARROWS["RUNNING", "BAD"]] == "old"
    assert kinds[ARROWS["RUNNING", "SUCCESSFUL"]] == "done"
    assert kinds[ARROWS["PENDING", "BACKOFF"]] == "done"
    assert kinds[ARROWS["BAD", "PENDING"]] == "old"
    assert drawing.summary.startswith("Run 1: pending, queued, running, failed. Run 2: pending, backoff")
    assert [box.mark for box in drawing.boxes] == ["", "", "", "hold", "ok", "bad"]


def test_every_step_of_the_state_machine_has_an_arrow() -> None:
    """Of the drawing in docs/state-machine.md: forward steps, backoff, next attempts and ends."""
    open_ones = ("PENDING", "QUEUED", "RUNNING", "BACKOFF")
    wanted = {("PENDING", "QUEUED"), ("PENDING", "RUNNING"), ("QUEUED", "RUNNING"), ("BAD", "PENDING")}
    wanted |= {(status, "BACKOFF") for status in open_ones if status != "BACKOFF"}
    wanted |= {(status, end) for status in open_ones for end in ("SUCCESSFUL", "BAD")}
    wanted |= {("BACKOFF", status) for status in ("QUEUED", "RUNNING")}
    assert wanted <= ARROWS.keys()


def test_an_unsuccessful_end_is_drawn_by_its_own_name() -> None:
    for status in ENDS - {Status.SUCCESSFUL}:
        drawing = draw_path(read_runs(START, [event(1, status, error="x")]), NOW)
        assert drawing.boxes[-1].title.lower().replace(" ", "_") == status.lower()


def test_each_run_has_its_own_scale() -> None:
    second, first = draw_timeline(read_runs(START, TWO_RUNS), NOW)
    assert [attempt.number for attempt in second.attempts] == [1, 2]
    assert [bar.kind for bar in second.attempts[0].bars] == ["wait", "back"]
    assert second.attempts[0].error == "no connection"
    assert [(bar.kind, bar.x, bar.width) for bar in second.attempts[1].bars] == [("q", 50, 25), ("r", 75, 25)]
    assert first.attempts[0].summary == "pending 1.0 s, queued 1.0 s, running 10 s"
    for bar in first.attempts[0].bars:
        assert 0 <= bar.x <= 100
        assert bar.x + bar.width <= 100


def test_of_many_attempts_the_first_and_the_last_are_drawn() -> None:
    events = [event(number, "BACKOFF", 1, number, error="503") for number in range(1, 200)]
    [row] = draw_timeline(read_runs(START, events), NOW)
    assert (len(row.attempts), row.hidden) == (MOST_ATTEMPTS, 199 - MOST_ATTEMPTS)
    assert [row.attempts[0].number, row.attempts[-1].number] == [1, 199]
