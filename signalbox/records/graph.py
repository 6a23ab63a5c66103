"""The graph that a job represents or belongs to."""

from datetime import datetime
from uuid import UUID

from signalbox.records.base import Record


class Step(Record):
    """A step of a graph."""

    name: str
    """Its name in the graph."""
    action_uuid: UUID
    """Its action."""
    action_name: str
    """The action name that runs it."""
    workflow: str | None = None
    """The workflow that it runs, if it is a job."""
    after: list[str]
    """The names of the steps that it waits for."""
    status: str
    """Its status."""
    run: int
    """Its run."""
    attempt: int
    """Its attempt."""
    error: str | None = None
    """Its last error."""
    started_at: datetime | None = None
    """When its run started."""
    ended_at: datetime | None = None
    """When it ended."""


class Graph(Record):
    """The steps of the graph that a job represents or belongs to; none if it is not part of a graph."""

    whole: UUID | None = None
    """The action that represents the whole."""
    steps: list[Step]
    """In an order in which they may run."""
