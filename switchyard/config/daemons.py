"""Settings of the daemons: conductor, caboose, worker rows, partitions, logging, health servers."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from switchyard.config.model import Model
from switchyard.config.units import Duration, Interval, Size


class Health(Model):
    """The health and metrics server of a program."""

    host: str = "127.0.0.1"
    """The address it listens at; 0.0.0.0 for all."""
    port: Annotated[int, Field(ge=0, le=65535)] | None = 0
    """The port; 0 takes any that is free and logs it, null switches the server off."""


class Conductor(Model):
    """The daemon that claims due actions and dispatches them."""

    batch: Annotated[int, Field(ge=1, le=10_000)] = 500
    """How many actions one claim takes at most."""
    listen_wait: Duration = 0.02
    """Notifications that arrive within this time are handled together."""
    poll: Interval = 60.0
    """How often it looks for work without a notification."""
    workers: Annotated[int, Field(ge=1, le=64)] = 1
    """How many workers (and connections) each action name has in one process."""
    connections: Annotated[int, Field(ge=1, le=10_000)] = 50
    """How many connections the workers of one process share: a quiet worker gives up its own for another."""
    grace: Interval = 30.0
    """How long a stop waits for dispatches in flight."""
    unknown_after: Interval | None = None
    """An action that waits this long under a name that no conductor serves ends INVALID; unset, it waits."""
    health: Health = Health(port=8081)
    """The health and metrics server."""


class Caboose(Model):
    """The daemon that observes executions, archives and records their ends, and inserts callbacks."""

    poll: Interval = 5.0
    """How often it looks for due callbacks, timeouts and cancels without a notification."""
    batch: Annotated[int, Field(ge=1, le=10_000)] = 100
    """How many completions or callbacks one pass takes at most, all at once."""
    grace: Interval = 30.0
    """How long a stop waits for dispatches in flight."""
    max_output: Annotated[Size, Field(ge=1024)] = 64 * 1024 * 1024
    """The largest output that is read for callbacks; a larger one ends FAILED, with the reason."""
    max_callbacks: Annotated[int, Field(ge=1)] = 100_000
    """How many callbacks one end may have; those above are not made, and the inbox shows it."""
    max_callback_bytes: Annotated[Size, Field(ge=1024)] = 256 * 1024 * 1024
    """How large the parameters of one end's callbacks may be together."""
    health: Health = Health(port=8082)
    """The health and metrics server."""


class Workers(Model):
    """Heartbeats: every conductor, caboose and assessment worker has a row and updates it."""

    beat: Interval = 5.0
    """The interval of a worker's heartbeat."""
    lost_after: Interval = 30.0
    """A worker without a heartbeat for this long is lost."""
    max_lost_ratio: Annotated[float, Field(gt=0, le=1)] = 0.2
    """An action name is paused when lost / started workers exceeds this ratio."""
    min_lost: Annotated[int, Field(ge=1)] = 5
    """The fewest lost workers that pause an action name."""
    keep: Interval = 7 * 86400.0
    """How long the rows of ended workers are stored; the lost ratio counts within this time."""

    @model_validator(mode="after")
    def _several_beats(self) -> Self:
        if self.lost_after < 2 * self.beat:
            raise ValueError("lost_after must be at least twice beat, or one late beat loses a worker")
        return self


class Partitions(Model):
    """Partitions are created ahead of time and dropped as a whole, by one conductor at a time."""

    interval: Literal["day", "week", "month"] = "day"
    """The time span of one partition."""
    days_ahead: Annotated[int, Field(ge=1, le=3660)] = 14
    """How many days ahead partitions are created."""
    retention: Annotated[Interval, Field(ge=86400)] | None = None
    """Partitions that ended this long ago are dropped, once nothing in them is open; without it, never."""
    every: Interval = 3600.0
    """How often partitions are created and dropped."""


class Logging(Model):
    """To standard error, one line per entry."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    """The least severe level that is logged."""
    format: Literal["auto", "json", "text"] = "auto"
    """`auto`: readable on a terminal, JSON otherwise."""

    @property
    def json_lines(self) -> bool | None:
        """As `runtime.log.configure(json=…)` takes it."""
        return None if self.format == "auto" else self.format == "json"
