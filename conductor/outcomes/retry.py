"""When to retry a dispatch: capped exponential backoff with full jitter, up to a number of attempts."""

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
    """No attempts are left."""


def is_last(policy: Policy, attempt: int) -> bool:
    """Whether this is the last attempt."""
    return attempt >= policy.attempts


def after(
    policy: Policy, attempt: int, outcome: Retry, *, chance: random.Random, refused: int = 0
) -> Again | Exhausted:
    """What follows a Retry: a random wait, the wait that the other side requested, or no more attempts.

    A refusal uses no attempt, and neither did the `refused` ones before it; but the wait grows with them.

    A requested wait is respected, plus jitter of up to the base, so that callers with the same wait do not
    return together; the cap does not apply, because an earlier retry would only waste an attempt.
    """
    if is_last(policy, attempt - refused) and not outcome.refused:
        return Exhausted()
    if outcome.delay is not None:
        asked = min(max(outcome.delay, 0.0), LONGEST_ASKED)
        return Again(asked + chance.uniform(0.0, policy.base))
    return Again(full_jitter(policy, attempt, chance))
