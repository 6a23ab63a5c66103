"""The retry policy: number of attempts and the waits between them."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from switchyard.config.model import Model
from switchyard.config.units import Duration


class RetryPolicy(Model):
    """Exponential with full jitter: a random share of min(max, base x factor^(attempt - 1))."""

    attempts: Annotated[int, Field(ge=1, le=1000)] = 8
    """How often it is tried in all; 1 is never again. For a workflow these are executions, not dispatches."""
    base: Duration = 1.0
    """The upper limit of the wait after the first attempt."""
    factor: Annotated[float, Field(ge=1, le=100)] = 2.0
    """The factor by which the wait grows with each attempt."""
    max: Duration = 600.0
    """The upper limit of the wait."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.base > self.max:
            raise ValueError("base is longer than max: make base the shorter one")
        return self


ONCE = RetryPolicy(attempts=1, base=60.0)
