"""Lanes of action names and workflows that have limits."""

from datetime import datetime

from signalbox.records.base import Record


class Lane(Record):
    """A lane, its open actions and its limits."""

    action_name: str
    """The action name whose limits apply."""
    workflow: str | None = None
    """The workflow, if its executions at the backend are limited."""
    lane: str | None = None
    """The lane; null is the lane without a name."""
    open: int
    """The number of open actions."""
    in_flight: int
    """The number of actions that count against the limit."""
    max_in_flight: int | None = None
    """The limit per lane."""
    rate: float | None = None
    """The rate per lane, in actions per second."""
    breaker: float | None = None
    """The fraction of the rate that the lane's breaker allows."""
    weight: float
    """Its weight relative to other lanes."""
    state: str
    """Its state, or the limit that holds it back."""
    waiting_since: datetime | None = None
    """Since when it is held back."""


class LaneList(Record):
    """The lanes with open actions."""

    lanes: list[Lane]
    """At most 500, those that wait longest first."""
    more: bool
    """Whether there are more."""
