"""Lanes of action names and workflows that have limits."""

from datetime import datetime

from signalbox.records.base import Record


class Lane(Record):
    """Whose work it is, and what holds it back."""

    action_name: str
    """The action name whose limits apply."""
    workflow: str | None = None
    """The workflow, where its executions at the backend are limited."""
    lane: str | None = None
    """The lane; none is a lane like any other."""
    open: int
    """What has not ended."""
    in_flight: int
    """What counts against the limit now."""
    max_in_flight: int | None = None
    """The limit per lane."""
    rate: float | None = None
    """The rate per lane, in actions per second."""
    breaker: float | None = None
    """The part of the rate that the lane's breaker lets through."""
    weight: float
    """Its share beside other lanes."""
    state: str
    """What it does, or what holds it back."""
    waiting_since: datetime | None = None
    """Since when it is held back."""


class LaneList(Record):
    """The lanes that have anything open."""

    lanes: list[Lane]
    """At most 500, those that wait longest first."""
    more: bool
    """Whether there are more."""
