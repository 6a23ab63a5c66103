"""What makes an action name slow down, and how it comes back."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from switchyard.config.codes import StatusCodes
from switchyard.config.expressions import Regex
from switchyard.config.model import Model


class BreakerPattern(Model):
    """One kind of error; all that is given must match."""

    status: StatusCodes | None = None
    """HTTP status codes of the answer."""
    error: Regex | None = None
    """A regular expression that is searched for in the error's message."""
    quota: Literal[True] | None = None
    """A Kubernetes quota refused it (403, exceeded quota)."""

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.status is None and self.error is None and self.quota is None:
            raise ValueError("an empty pattern would match every error: give status, error or quota")
        return self


class Breaker(Model):
    """Each matching error slows the refill of the rate, each success speeds it up again."""

    patterns: Annotated[tuple[BreakerPattern, ...], Field(min_length=1)]
    """The errors that slow it down; one match is enough."""
    slow_by: Annotated[float, Field(gt=0, lt=1)] = 0.5
    """What the rate is multiplied by at a match."""
    floor: Annotated[float, Field(gt=0, le=1)] = 0.01
    """The smallest share of the configured rate that is left."""
    recover_by: Annotated[float, Field(gt=1, le=100)] = 1.5
    """What the rate is multiplied by at a success, up to the configured rate."""
