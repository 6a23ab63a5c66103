"""When the steps of a graph waited and ran, on one time axis."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from signalbox.interval import time_of
from signalbox.pages.timeline import Bar
from signalbox.records.graph import Step
from switchyard.status import ENDS, Status


@dataclass(frozen=True, slots=True)
class Line:
    """One step: how long it waited once it could run, how long it ran, and both as bars."""

    waited: float | None
    ran: float | None
    bars: list[Bar]


@dataclass(frozen=True, slots=True)
class Gantt:
    """The lines of all steps; `begin` and `end` are those of the axis."""

    begin: datetime
    end: datetime
    lines: list[Line]


def draw_gantt(steps: Sequence[Step], now: datetime) -> Gantt:
    """From the submission to the last end, or to now while a step is open."""
    begin = min(time_of(step.action_uuid) for step in steps)
    ends = [now if step.status not in ENDS else step.ended_at or now for step in steps]
    end = max(*ends, begin)
    length = max((end - begin).total_seconds(), 0.001)
    ready = _ready(steps)

    def bar(kind: str, since: datetime, until: datetime, y: int, height: int) -> Bar:
        x = min(max((since - begin).total_seconds() / length * 100, 0), 99.5)
        width = max((until - since).total_seconds() / length * 100, 0.5)
        return Bar(kind, round(x, 2), y, round(min(width, 100 - x), 2), height)

    def line(step: Step) -> Line:
        since = ready[step.name]
        started = step.started_at
        if started is None:
            waits = since is not None and step.status not in ENDS
            return Line(None, None, [bar("wait", since, now, 4, 5)] if since and waits else [])
        until = max(step.ended_at or now, started)
        # A retriggered step may have started before the steps that it waits for ended again.
        since = min(since or started, started)
        bars = [bar("q", since, started, 2, 9), bar(_kind(step), started, until, 1, 11)]
        return Line((started - since).total_seconds(), (until - started).total_seconds(), bars)

    return Gantt(begin, end, [line(step) for step in steps])


def _ready(steps: Sequence[Step]) -> dict[str, datetime | None]:
    """When each step could have run, because all that it waits for had ended; None if one of them has not."""
    by_name = {step.name: step for step in steps}
    found: dict[str, datetime | None] = {}
    for step in steps:
        times = [by_name[name].ended_at for name in step.after if name in by_name]
        known = [at for at in times if at is not None]
        found[step.name] = max([time_of(step.action_uuid), *known]) if len(known) == len(times) else None
    return found


def _kind(step: Step) -> str:
    if step.status == Status.SUCCESSFUL:
        return "ok"
    if step.status == Status.BACKOFF:
        return "back"
    return "bad" if step.status in ENDS else "r"
