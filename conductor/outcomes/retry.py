"""When a dispatch is tried again: capped exponential backoff with full jitter, up to a number of attempts."""

import random
from dataclasses import dataclass

from switchyard.backoff import Policy, full_jitter
from switchyard.handlers import Retry

LONGEST_ASKED = 86_400.0  # what another side may ask us to wait, however high its number


@dataclass(frozen=True, slots=True)
class Again:
    """Wait this many seconds, then dispatch again."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Exhausted:
    """That was the last attempt."""


def is_last(policy: Policy, attempt: int) -> bool:
    """Whether no retry may follow this attempt."""
    return attempt >= policy.attempts


def after(
    policy: Policy, attempt: int, outcome: Retry, *, chance: random.Random, refused: int = 0
) -> Again | Exhausted:
    """What follows a Retry: a drawn wait, or what the other side asked for, or the end of patience.

    A refusal spends no attempt, and neither did the `refused` ones before it; the wait grows with them.

    A requested wait is respected and jittered upwards by the base, so that all who got the same do not return
    together; the cap does not cut it, for coming back sooner would only spend the next attempt.
    """
    if is_last(policy, attempt - refused) and not outcome.refused:
        return Exhausted()
    if outcome.delay is not None:
        asked = min(max(outcome.delay, 0.0), LONGEST_ASKED)
        return Again(asked + chance.uniform(0.0, policy.base))
    return Again(full_jitter(policy, attempt, chance))
