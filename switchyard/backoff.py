"""How long to wait after a failure: exponential up to a ceiling, partly by chance so that waits spread."""

import random
from dataclasses import dataclass
from typing import Protocol


class Policy(Protocol):
    """The `retry` of an action or workflow, as configured; durations in seconds."""

    @property
    def attempts(self) -> int: ...
    @property
    def base(self) -> float: ...
    @property
    def factor(self) -> float: ...
    @property
    def max(self) -> float: ...


def ceiling(base: float, factor: float, longest: float, failures: int) -> float:
    """The longest wait after this many failures in a row, at least 1."""
    try:
        return min(longest, base * factor ** (failures - 1))
    except OverflowError:
        return longest


def full_jitter(policy: Policy, failures: int, chance: random.Random) -> float:
    """Any share of the ceiling: for many that failed together."""
    return chance.uniform(0.0, ceiling(policy.base, policy.factor, policy.max, failures))


@dataclass(frozen=True, slots=True)
class Backoff:
    """Pauses of one loop or connection: doubling from `base` up to `longest`, a quarter of it by chance."""

    base: float = 0.5
    longest: float = 30.0

    def pause(self, failures: int) -> float:
        """Seconds to wait after this many failures in a row."""
        longest = ceiling(self.base, 2.0, self.longest, failures)
        return longest * random.uniform(0.75, 1.0)  # noqa: S311 - spreads the load, guards nothing
