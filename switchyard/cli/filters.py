"""Choosing actions: the filters that list, retrigger, cancel and dismiss share."""

import inspect
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import Annotated, Any
from uuid import UUID

import typer

from switchyard.cli.complete import GROUPS, action_names, status_words, workflows
from switchyard.config.units import parse_duration
from switchyard.errors import BadInput
from switchyard.status import Status


def _option(
    flag: str, help_text: str, metavar: str = "TEXT", offered: Callable[[str], list[str]] | None = None
) -> Any:
    return typer.Option(flag, metavar=metavar, help=help_text, show_default=False, autocompletion=offered)


Name = Annotated[str | None, _option("--name", "Only this action name.", "NAME", action_names)]
Workflow = Annotated[str | None, _option("--workflow", "Only this workflow.", "NAME", workflows)]
Statuses = Annotated[
    list[str] | None,
    _option(
        "--status",
        "Only these; `failed` is every unsuccessful end, `open` every status before the end.",
        "STATUS",
        status_words,
    ),
]
Error = Annotated[str | None, _option("--error", "Only errors that contain this text.")]
Cause = Annotated[
    str | None,
    _option("--cause", "Only failures with this cause, or the only cause that begins so (inbox --by-cause)."),
]
Where = Annotated[
    str | None,
    _option(
        "--where", "Only parameters for which this JSON path is true, like '$.scene == \"S2A\"'.", "PATH"
    ),
]
Tag = Annotated[
    list[str] | None, _option("--tag", "Only with this tag; with several, with all of them.", "TAG")
]
SubmittedBy = Annotated[
    str | None, _option("--submitted-by", "Only those that this database user submitted.")
]
Key = Annotated[str | None, _option("--key", "Only this idempotency key.")]
CorrelationId = Annotated[str | None, _option("--correlation-id", "Only this correlation id.")]
Since = Annotated[
    str | None,
    _option(
        "--since",
        "Submitted after: 2026-01-31 or 2026-01-31T08:00 (local), 2026-01-31T08:00Z, or an age like 2h.",
        "TIME",
    ),
]
Until = Annotated[str | None, _option("--until", "Submitted before; written like --since.", "TIME")]


def _options(
    name: Name = None,
    workflow: Workflow = None,
    status: Statuses = None,
    error: Error = None,
    cause: Cause = None,
    where: Where = None,
    tag: Tag = None,
    submitted_by: SubmittedBy = None,
    key: Key = None,
    correlation_id: CorrelationId = None,
    since: Since = None,
    until: Until = None,
) -> "Filter":
    return Filter(
        name=name,
        workflow=workflow,
        statuses=statuses(status),
        error=error,
        cause=cause,
        where=where,
        tags=tuple(tag) if tag else None,
        submitted_by=submitted_by,
        key=key,
        correlation_id=correlation_id,
        since=moment("--since", since),
        until=moment("--until", until),
    )


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter of actions; an empty one matches all."""

    name: str | None = None
    workflow: str | None = None
    statuses: tuple[str, ...] | None = None
    error: str | None = None
    cause: str | None = None
    where: str | None = None
    tags: tuple[str, ...] | None = None
    submitted_by: str | None = None
    key: str | None = None
    correlation_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    before: UUID | None = None

    @property
    def empty(self) -> bool:
        """Whether it matches all actions."""
        return self == Filter()

    def values(self, limit: int, statuses: tuple[str, ...] | None = None) -> dict[str, object]:
        """The parameters of the query `list`; only these of the chosen statuses, where any are given."""
        chosen = self.statuses
        if statuses is not None:
            chosen = tuple(status for status in self.statuses or statuses if status in statuses)
        lists = {"statuses": chosen, "tags": self.tags}
        return {**asdict(self), **{k: v and list(v) for k, v in lists.items()}, "limit": limit}


def filtered(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of the filters to a command, which gets one argument `chosen` instead."""
    given = inspect.signature(command).parameters
    options = inspect.signature(_options).parameters
    own = [parameter for name, parameter in given.items() if name != "chosen"]

    @wraps(command)
    def called(**values: Any) -> None:
        chosen = _options(**{name: values.pop(name) for name in options})
        command(**values, chosen=chosen)

    parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in (*own, *options.values())]
    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {each.name: each.annotation for each in parameters}
    return called


def statuses(given: list[str] | None) -> tuple[str, ...] | None:
    """The statuses that these words mean."""
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
            raise BadInput(f"--status: {word!r} is not one of {known}, open, failed")
    return tuple(sorted(found))


def moment(option: str, given: str | None) -> datetime | None:
    """A time as people write it: a date, a date and time (local time unless it has a zone), or an age."""
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
