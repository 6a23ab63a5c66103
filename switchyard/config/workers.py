"""The registry of workers: how they show that they live, and when one counts as lost."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from switchyard.config.model import Model
from switchyard.config.units import Interval


class Workers(Model):
    """Every conductor, caboose and assessment worker has a row and beats."""

    beat: Interval = 5.0
    """How often a worker shows that it lives."""
    lost_after: Interval = 30.0
    """A worker that was silent for so long is lost."""
    max_lost_ratio: Annotated[float, Field(gt=0, le=1)] = 0.2
    """Where lost / started passes this, the action name is paused."""
    min_lost: Annotated[int, Field(ge=1)] = 5
    """But not before so many were lost."""
    keep: Interval = 7 * 86400.0
    """How long the rows of ended workers are kept; the lost ratio counts within this time."""

    @model_validator(mode="after")
    def _several_beats(self) -> Self:
        if self.lost_after < 2 * self.beat:
            raise ValueError("lost_after must be at least twice beat, or one late beat loses a worker")
        return self
