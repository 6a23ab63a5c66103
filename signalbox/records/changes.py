"""Bodies and answers of routes that change something."""

from typing import Annotated, Literal

from pydantic import Field

from signalbox.records.base import Record


class Reason(Record):
    """The reason of a change; its actor is the caller."""

    reason: Annotated[str, Field(min_length=1, max_length=1000)]
    """The reason; it is recorded."""


class Again(Reason):
    """The reason of a retrigger, and where the new run begins."""

    resume_from: Literal["start", "failed"] = "failed"
    """`failed` continues from the failed steps, if the backend can; `start` repeats everything."""


class Changed(Record):
    """Whether something changed."""

    changed: bool
    """False if there was nothing to change."""
