"""Bodies and answers of routes that change something."""

from typing import Annotated, Literal

from pydantic import Field

from signalbox.records.base import Record


class Reason(Record):
    """Why something is changed; who changes it is the caller."""

    reason: Annotated[str, Field(min_length=1, max_length=1000)]
    """Why; it is recorded."""


class Again(Reason):
    """Why something runs again, and from where."""

    resume_from: Literal["start", "failed"] = "failed"
    """`failed` continues with what failed, where the backend can; `start` repeats everything."""


class Changed(Record):
    """Whether something changed."""

    changed: bool
    """False where it was so already."""
