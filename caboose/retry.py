"""When a workflow whose execution failed runs again: under its own policy, as a new run."""

import random

from switchyard.config.retry import RetryPolicy


def again_in(policy: RetryPolicy, tries: int, *, fatal: bool, chance: random.Random) -> float | None:
    """Seconds until the next execution; None: that was the last, or trying again cannot help.

    `tries` counts the executions that the policy opened since somebody last triggered the workflow.
    """
    if fatal or tries + 1 >= policy.attempts:
        return None
    try:
        ceiling = min(policy.max, policy.base * policy.factor**tries)
    except OverflowError:
        ceiling = policy.max
    return chance.uniform(0.0, ceiling)
