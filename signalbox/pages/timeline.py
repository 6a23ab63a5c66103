"""Runs and attempts on a time axis."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from signalbox.pages import words
from signalbox.pages.story import Run, Step
from switchyard.status import ENDS, Status

BARS = {
    Status.PENDING: ("wait", 4, 5),
    Status.QUEUED: ("q", 2, 9),
    Status.RUNNING: ("r", 1, 11),
    Status.BACKOFF: ("back", 5, 3),
}
MOST_ATTEMPTS = 20


@dataclass(frozen=True, slots=True)
class Bar:
    """A piece of the axis, in percent of its run."""

    kind: str
    x: float
    y: int
    width: float
    height: int


@dataclass(frozen=True, slots=True)
class Attempt:
    """One dispatch and its result."""

    number: int
    status: Status
    bars: list[Bar]
    summary: str
    error: str | None
    open: bool


@dataclass(frozen=True, slots=True)
class Row:
    """One run with its attempts; `hidden` attempts in the middle are not drawn."""

    run: Run
    attempts: list[Attempt]
    hidden: int


def draw_timeline(runs: Sequence[Run], now: datetime) -> list[Row]:
    """Newest run first, each on its own scale."""
    return [_row(run, now) for run in reversed(runs)]


def _row(run: Run, now: datetime) -> Row:
    groups = [list(steps) for _, steps in groupby(run.steps, key=_dispatch)]
    shown = groups if len(groups) <= MOST_ATTEMPTS else [*groups[:1], *groups[1 - MOST_ATTEMPTS :]]
    begin, end = run.begin, run.end or now
    length = max((end - begin).total_seconds(), 0.001)
    return Row(run, [_attempt(steps, begin, length, now) for steps in shown], len(groups) - len(shown))


def _dispatch(step: Step) -> int:
    """The first dispatch includes the wait for it; an end belongs to the attempt that it ended."""
    return max(step.attempt, 1)


def _attempt(steps: list[Step], begin: datetime, length: float, now: datetime) -> Attempt:
    bars = []
    for step in steps:
        if step.status in ENDS:
            continue
        kind, y, height = BARS[step.status]
        x = (step.begin - begin).total_seconds() / length * 100
        width = max(step.seconds(now) / length * 100, 0.3)
        bars.append(Bar(kind, round(min(x, 99.7), 2), y, round(min(width, 100 - min(x, 99.7)), 2), height))
    last = steps[-1]
    summary = ", ".join(
        f"{words.word(step.status).lower()} {words.took(step.seconds(now))}"
        for step in steps
        if step.status not in ENDS
    )
    error = next((step.error for step in reversed(steps) if step.error), None)
    return Attempt(
        _dispatch(last), last.status, bars, summary, error, last.status not in ENDS and last.end is None
    )
