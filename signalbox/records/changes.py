"""What changing routes take and answer."""

from typing import Annotated

from pydantic import Field

from signalbox.records.base import Record


class Reason(Record):
    """Why something is changed; who changes it is the caller."""

    reason: Annotated[str, Field(min_length=1, max_length=1000)]
    """Why; it is recorded."""


class Changed(Record):
    """Whether something changed."""

    changed: bool
    """False where it was so already."""
