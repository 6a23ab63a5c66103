"""The runs and attempts of an action, read from its events."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise

from signalbox.records.jobs import Event
from switchyard.status import ENDS, Status


@dataclass(frozen=True, slots=True)
class Step:
    """A status and how long it lasted; `end` is None while it lasts."""

    status: Status
    attempt: int
    begin: datetime
    end: datetime | None
    error: str | None = None

    def seconds(self, now: datetime) -> float:
        """How long it lasted, or has lasted so far."""
        return ((self.end or now) - self.begin).total_seconds()


@dataclass(frozen=True, slots=True)
class Run:
    """One execution: its steps, and who opened it if it was opened by a person."""

    number: int
    steps: Sequence[Step]
    opened_by: str | None = None
    reason: str | None = None

    @property
    def status(self) -> Status:
        """Its last status."""
        return self.steps[-1].status

    @property
    def begin(self) -> datetime:
        """When it was opened."""
        return self.steps[0].begin

    @property
    def end(self) -> datetime | None:
        """When it ended; None while it is open."""
        last = self.steps[-1]
        return last.begin if last.status in ENDS else last.end


@dataclass(slots=True)
class _Draft:
    number: int
    marks: list[tuple[datetime, Status, int, Event | None]] = field(default_factory=list)


def read_runs(created_at: datetime, events: Iterable[Event]) -> list[Run]:
    """The runs, oldest first. Events that changed nothing (ignored, INFO) are left out."""
    drafts = [_Draft(1, [(created_at, Status.PENDING, 0, None)])]
    for event in events:
        status = Status(event.status)
        if event.ignored or status is Status.INFO:
            continue
        if (event.run or 0) > drafts[-1].number:
            drafts.append(_Draft(event.run or 0))
        drafts[-1].marks.append((event.event_time, status, event.attempt or 0, event))
    following = [draft.marks[0][0] if draft.marks else None for draft in drafts[1:]]
    return [_run(draft, until) for draft, until in zip(drafts, [*following, None], strict=True)]


def _run(draft: _Draft, until: datetime | None) -> Run:
    ends = [later[0] for _, later in pairwise(draft.marks)]
    steps = [
        Step(status, attempt, at, None if status in ENDS else end, event.error if event else None)
        for (at, status, attempt, event), end in zip(draft.marks, [*ends, until], strict=True)
    ]
    first = draft.marks[0][3]
    detail = first.detail if first and isinstance(first.detail, dict) else {}
    by_hand = draft.number > 1 and steps[0].status is Status.PENDING
    return Run(draft.number, steps, *((detail.get("actor"), detail.get("reason")) if by_hand else ()))
