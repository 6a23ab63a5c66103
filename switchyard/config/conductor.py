"""The conductor."""

from typing import Annotated

from pydantic import Field

from switchyard.config.health import Health
from switchyard.config.model import Model
from switchyard.config.units import Duration, Interval


class Conductor(Model):
    """The daemon that claims what is due and dispatches it."""

    batch: Annotated[int, Field(ge=1, le=10_000)] = 500
    """How many actions one claim takes at most."""
    listen_wait: Duration = 0.02
    """Bells that follow within this time are taken together."""
    poll: Interval = 30.0
    """How often it looks without having been rung for."""
    workers: Annotated[int, Field(ge=1, le=64)] = 1
    """How many workers (and connections) each action name has in one process."""
    grace: Interval = 30.0
    """How long a stop waits for what is in flight."""
    health: Health = Health(port=8081)
    """The health and metrics server."""
