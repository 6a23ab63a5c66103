"""Which errors slow an action name down, and how it recovers."""

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
    """A regular expression found in the error's message, like `exceeded quota` of Kubernetes."""

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.status is None and self.error is None:
            raise ValueError("an empty pattern would match every error: give status or error")
        return self


class Breaker(Model):
    """Each matching error slows the rate, or lowers `concurrency` without one; each success reverts it."""

    patterns: Annotated[tuple[BreakerPattern, ...], Field(min_length=1)]
    """The errors that slow it down; one match is enough."""
    slow_by: Annotated[float, Field(gt=0, lt=1)] = 0.5
    """What the rate is multiplied by at a match."""
    floor: Annotated[float, Field(gt=0, le=1)] = 0.01
    """The lowest factor: the smallest share of the configured rate."""
    recover_by: Annotated[float, Field(gt=1, le=100)] = 1.5
    """What the rate is multiplied by at a success, up to the configured rate."""
    scope: Literal["name", "lane"] = "name"
    """`lane`: it slows only the lane of the action that failed (below `limits.per_lane`), fleet-wide."""
