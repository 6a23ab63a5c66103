"""The breaker: matching errors slow the rate of an action name, successes restore it.

Its factor is held in memory only: a restart begins at the configured rate.
"""

import re
from collections.abc import Callable, Container, Sequence
from typing import Self

from switchyard.config.breaker import Breaker as BreakerConfig
from switchyard.config.breaker import BreakerPattern
from switchyard.handlers import Failed, HandedOver, Outcome, Retry, Success

Matcher = Callable[[Retry | Failed], bool]


def by_status(codes: Container[object]) -> Matcher:
    """Match the status code that a handler put into its outcome's detail."""
    return lambda outcome: outcome.detail.get("status") in codes


def by_error(pattern: str | re.Pattern[str]) -> Matcher:
    """Match a regular expression anywhere in the error's text."""
    expression = re.compile(pattern)
    return lambda outcome: expression.search(outcome.error) is not None


def all_of(matchers: Sequence[Matcher]) -> Matcher:
    """Match if every part of one pattern matches."""
    return lambda outcome: all(matcher(outcome) for matcher in matchers)


class Breaker:
    """A factor between the floor and 1 that outcomes of dispatches lower and raise."""

    def __init__(
        self, patterns: Sequence[Matcher], *, slow_by: float, floor: float, recover_by: float
    ) -> None:
        self._patterns = patterns
        self._slow_by = slow_by
        self._floor = floor
        self._recover_by = recover_by
        self.factor = 1.0

    @classmethod
    def configured(cls, config: BreakerConfig) -> Self:
        """A breaker with this configuration."""
        patterns = [all_of(_matchers(pattern)) for pattern in config.patterns]
        return cls(patterns, slow_by=config.slow_by, floor=config.floor, recover_by=config.recover_by)

    def observe(self, outcome: Outcome) -> bool:
        """Apply one outcome; True if the factor changed."""
        before = self.factor
        self.factor = min(1.0, max(self._floor, self.factor * self.step(outcome)))
        return self.factor != before

    def step(self, outcome: Outcome) -> float:
        """The number that an outcome multiplies the factor by."""
        if isinstance(outcome, Success | HandedOver):
            return self._recover_by
        slows = isinstance(outcome, Retry | Failed) and self._matches(outcome)
        return self._slow_by if slows else 1.0

    def _matches(self, outcome: Retry | Failed) -> bool:
        try:
            return any(match(outcome) for match in self._patterns)
        except Exception:  # noqa: BLE001 - a handler's detail may be anything at all
            return False


def _matchers(pattern: BreakerPattern) -> list[Matcher]:
    matchers: list[Matcher] = []
    if pattern.status is not None:
        matchers.append(by_status(pattern.status))
    if pattern.error is not None:
        matchers.append(by_error(pattern.error))
    return matchers
