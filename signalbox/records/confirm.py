"""Confirmations before something is changed."""

from pydantic import Field

from signalbox.records.base import Record


class Confirmation(Record):
    """A change before it is made: what will happen, and the form that makes it."""

    title: str
    """What will be done."""
    text: str
    """What that means."""
    facts: dict[str, str] = Field(default_factory=dict)
    """What it concerns."""
    action: str
    """The path that the form is sent to."""
    hidden: list[tuple[str, str]] = Field(default_factory=list)
    """Fields that are already decided."""
    button: str
    """The button, with the number that it acts on."""
    hint: str
    """What a good reason says."""
    count: int | None = None
    """How many actions a decision by filter concerns now."""
    resumes: bool = False
    """Whether the form asks where a new run begins."""
    danger: bool = False
    """Whether it ends something."""
    back: str
    """The page to return to."""
