"""Decisions about many actions."""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, Field, StringConstraints

from signalbox.records.base import Record

Text = Annotated[str, StringConstraints(min_length=1, max_length=500)]


class Chosen(Record):
    """Which actions: those that match all that is given."""

    name: Text | None = None
    """The action name."""
    workflow: Text | None = None
    """The workflow."""
    error: Text | None = None
    """A text that the error contains."""
    cause: Text | None = None
    """The cause, as /causes lists it."""
    correlation_id: Text | None = None
    """The correlation id."""
    jobs: Annotated[list[UUID], Field(max_length=10_000)] | None = None
    """These."""


class BulkRequest(Record):
    """A decision about all actions that a filter chooses, if they are as many as were shown."""

    filter: Chosen
    """Which actions; at least one field."""
    expected: Annotated[int, Field(ge=0, le=1_000_000)]
    """How many the caller was shown; nothing is done where the number has changed."""
    reason: Annotated[str, StringConstraints(min_length=1, max_length=1000)]
    """Why; it is recorded."""


class BulkRetrigger(BulkRequest):
    """A retrigger of all that a filter chooses."""

    resume_from: Literal["start", "failed"] = "failed"
    """`failed` continues with what failed, where the backend can; `start` repeats everything."""


class Computed(Record):
    """Which results that are reused: those that match all that is given."""

    workflow: Text | None = None
    """Of this workflow."""
    version: Text | None = None
    """Of this version."""
    action: UUID | None = None
    """Of this action, or the one that it reused."""
    before: AwareDatetime | None = None
    """Of what ended before this time."""


class Forget(Record):
    """A decision to reuse results no more, if they are as many as were shown."""

    filter: Computed
    """Which results; at least one field."""
    expected: Annotated[int, Field(ge=0, le=1_000_000_000)]
    """How many the caller was shown; nothing is done where the number has changed."""
    reason: Annotated[str, StringConstraints(min_length=1, max_length=1000)]
    """Why; it is recorded."""


class Forgotten(Record):
    """How many results are not reused any more."""

    forgotten: int
    """Their number."""


class Refused(Record):
    """An action that a decision does not apply to any more."""

    action_uuid: UUID
    """The action."""
    detail: str
    """Why."""


class Done(Record):
    """What became of the actions."""

    matched: int
    """How many were chosen."""
    done: int
    """For how many it was done."""
    refused: list[Refused]
    """The others; at most 100."""


class Retriggered(Record):
    """The next run of an action."""

    run: int
    """Its number."""


class Found(Record):
    """A cause of failures."""

    cause: str
    """The error without what differs between actions."""
    count: int
    """How many actions of the inbox have it."""
    action_names: list[str]
    """Their action names."""
    first_at: Any
    """When the first of them ended."""
    last_at: Any
    """When the last of them ended."""
    last_hour: int
    """How many ended within the last hour."""
    hour_before: int
    """How many ended in the hour before."""
    trend: str
    """new, growing, steady, shrinking or quiet."""
    example: UUID
    """The youngest of them."""
    error: str | None = None
    """Its error."""


class CauseList(Record):
    """The causes of the failed actions in the inbox, the most frequent first."""

    causes: list[Found]
    """At most 100."""
