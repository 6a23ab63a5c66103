"""When a failed execution is run again, by its workflow's retry policy."""

import random

from switchyard.backoff import full_jitter
from switchyard.config.retry import RetryPolicy


def next_run_in(policy: RetryPolicy, tries: int, *, fatal: bool, chance: random.Random) -> float | None:
    """Seconds until the next run; None if no runs are left, or another one cannot help.

    `tries` counts the runs that the policy opened since the workflow was last triggered.
    """
    if fatal or tries + 1 >= policy.attempts:
        return None
    return full_jitter(policy, tries + 1, chance)
