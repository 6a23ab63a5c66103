"""The caboose."""

from typing import Annotated

from pydantic import Field

from switchyard.config.health import Health
from switchyard.config.model import Model
from switchyard.config.units import Interval, Size


class Caboose(Model):
    """The daemon that brings states back, archives, records, calls back and forgets."""

    poll: Interval = 5.0
    """How often it looks for due callbacks, timeouts and cancels without having been rung for."""
    batch: Annotated[int, Field(ge=1, le=10_000)] = 100
    """How many completions or callbacks one pass takes at most, all at once."""
    grace: Interval = 30.0
    """How long a stop waits for what is in flight."""
    max_output: Annotated[Size, Field(ge=1024)] = 64 * 1024 * 1024
    """The largest output that is read for callbacks; a larger one ends FAILED and says so."""
    max_callbacks: Annotated[int, Field(ge=1)] = 100_000
    """How many callbacks one end may have; those above are not made, and the inbox shows it."""
    max_callback_bytes: Annotated[Size, Field(ge=1024)] = 256 * 1024 * 1024
    """How large the parameters of one end's callbacks may be together."""
    health: Health = Health(port=8082)
    """The health and metrics server."""
