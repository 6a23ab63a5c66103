"""Choosing actions: the filters that list, retrigger and cancel share."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated
from uuid import UUID

import typer

from switchyard.config.units import parse_duration
from switchyard.errors import BadInput
from switchyard.status import ENDS, Status

Name = Annotated[
    str | None, typer.Option("--name", metavar="NAME", help="Only this action name.", show_default=False)
]
WorkflowName = Annotated[
    str | None, typer.Option("--workflow", help="Only this workflow.", show_default=False)
]
StatusNames = Annotated[
    list[str] | None,
    typer.Option(
        "--status",
        metavar="STATUS",
        help="Only these; `failed` is every unsuccessful end, `open` all that have not ended.",
        show_default=False,
    ),
]
CorrelationId = Annotated[
    str | None, typer.Option("--correlation-id", help="Only this correlation id.", show_default=False)
]
Since = Annotated[
    str | None,
    typer.Option(
        "--since",
        metavar="TIME",
        help="Submitted after: 2026-01-31, 2026-01-31T08:00Z or an age like 2h.",
        show_default=False,
    ),
]
Until = Annotated[
    str | None, typer.Option("--until", metavar="TIME", help="Submitted before.", show_default=False)
]

GROUPS = {"failed": ENDS - {Status.SUCCESSFUL}, "open": set(Status) - ENDS - {Status.INFO}}


@dataclass(frozen=True, slots=True)
class Filter:
    """What to choose; nothing given chooses everything."""

    name: str | None = None
    workflow: str | None = None
    statuses: tuple[str, ...] | None = None
    correlation_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    @property
    def empty(self) -> bool:
        """Whether it chooses everything."""
        return self == Filter()

    def values(self, limit: int) -> dict[str, object]:
        """The parameters of the query `list`."""
        return {
            "name": self.name,
            "workflow": self.workflow,
            "statuses": None if self.statuses is None else list(self.statuses),
            "correlation_id": self.correlation_id,
            "since": self.since,
            "until": self.until,
            "limit": limit,
        }


def chosen(
    name: str | None,
    workflow: str | None,
    status: list[str] | None,
    correlation_id: str | None,
    since: str | None,
    until: str | None,
) -> Filter:
    """The filter of a command's options."""
    return Filter(
        name, workflow, statuses(status), correlation_id, moment("--since", since), moment("--until", until)
    )


def statuses(given: list[str] | None) -> tuple[str, ...] | None:
    """The statuses that those words stand for."""
    if not given:
        return None
    found: set[str] = set()
    for word in (part.strip() for text in given for part in text.split(",")):
        if word in GROUPS:
            found |= GROUPS[word]
        elif word.upper() in Status.__members__ and word.upper() != Status.INFO:
            found.add(word.upper())
        else:
            known = ", ".join(s for s in Status if s != Status.INFO)
            raise BadInput(f"--status: {word!r} is none of {known}, open, failed")
    return tuple(sorted(found))


def moment(option: str, given: str | None) -> datetime | None:
    """A time as people write it: a date, a date and time (in their zone unless it says one), or an age."""
    if given is None:
        return None
    if re.fullmatch(r"[0-9][0-9a-z.]*[a-z]", given):
        try:
            return datetime.now(UTC) - timedelta(seconds=parse_duration(given))
        except OverflowError as error:
            raise BadInput(f"{option}: {given} is too long ago") from error
        except ValueError as error:
            raise BadInput(f"{option}: {error}") from error
    try:
        return datetime.fromisoformat(given).astimezone()
    except (ValueError, OverflowError) as error:
        raise BadInput(
            f"{option}: {given!r} is neither a time like 2026-01-31T08:00Z nor an age like 2h"
        ) from error


def identifier(given: str) -> UUID:
    """An action's id."""
    try:
        return UUID(given)
    except ValueError as error:
        raise BadInput(
            f"{given!r} is no action id: it looks like 0197a0f3-8c1e-7a3b-9d2e-1f4c5b6a7d8e"
        ) from error
