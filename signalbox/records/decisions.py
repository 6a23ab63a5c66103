"""Decisions about many actions."""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, Field, StringConstraints

from signalbox.records.base import Record

Text = Annotated[str, StringConstraints(min_length=1, max_length=500)]


class Chosen(Record):
    """A filter of actions: those that match all given fields."""

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
    """The ids of the actions."""


class BulkRequest(Record):
    """A decision about all actions that match a filter, if their number is the expected one."""

    filter: Chosen
    """The filter; at least one field."""
    expected: Annotated[int, Field(ge=0, le=1_000_000)]
    """The number that the caller was shown; nothing is done if it has changed."""
    reason: Annotated[str, StringConstraints(min_length=1, max_length=1000)]
    """The reason; it is recorded."""


class BulkRetrigger(BulkRequest):
    """A retrigger of all actions that match a filter."""

    resume_from: Literal["start", "failed"] = "failed"
    """`failed` continues from the failed steps, if the backend can; `start` repeats everything."""


class Computed(Record):
    """A filter of reusable results: those that match all given fields."""

    workflow: Text | None = None
    """The workflow."""
    version: Text | None = None
    """The version of the computation."""
    action: UUID | None = None
    """The action that computed or reused the result."""
    before: AwareDatetime | None = None
    """Only results of actions that ended before this time."""


class Forget(Record):
    """A decision to reuse results no longer, if their number is the expected one."""

    filter: Computed
    """The filter; at least one field."""
    expected: Annotated[int, Field(ge=0, le=1_000_000_000)]
    """The number that the caller was shown; nothing is done if it has changed."""
    reason: Annotated[str, StringConstraints(min_length=1, max_length=1000)]
    """The reason; it is recorded."""


class Forgotten(Record):
    """How many results are no longer reused."""

    forgotten: int
    """Their number."""


class Refused(Record):
    """An action that a decision no longer applies to."""

    action_uuid: UUID
    """The action."""
    detail: str
    """The reason."""


class Done(Record):
    """The results of a decision."""

    matched: int
    """The number of actions that matched."""
    done: int
    """The number of actions that were changed."""
    refused: list[Refused]
    """The actions that were refused; at most 100."""


class Retriggered(Record):
    """The next run of an action."""

    run: int
    """Its number."""


class Found(Record):
    """A cause of failures."""

    cause: str
    """The error without the parts that differ between actions."""
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
    """The newest of them."""
    error: str | None = None
    """Its error."""


class CauseList(Record):
    """The causes of the failed actions in the inbox, the most frequent first."""

    causes: list[Found]
    """At most 100."""
