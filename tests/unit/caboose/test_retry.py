"""When a failed workflow runs again."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caboose.complete.retry import next_run_in
from switchyard.config.retry import ONCE, RetryPolicy

CHANCE = random.Random(1)


@given(st.integers(1, 20), st.integers(0, 30), st.floats(0.1, 100), st.integers(0, 10**6))
def test_a_policy_allows_its_attempts_and_waits_within_its_bounds(
    attempts: int, tries: int, base: float, seed: int
) -> None:
    policy = RetryPolicy(attempts=attempts, base=base, factor=2.0, max=600.0)
    wait = next_run_in(policy, tries, fatal=False, chance=random.Random(seed))
    assert (wait is None) == (tries + 1 >= attempts)
    if wait is not None:
        assert 0 <= wait <= min(600.0, base * 2.0**tries)


@pytest.mark.parametrize("tries", [0, 1, 5])
def test_a_fatal_failure_is_the_last(tries: int) -> None:
    assert next_run_in(RetryPolicy(attempts=99), tries, fatal=True, chance=CHANCE) is None


def test_without_a_policy_a_workflow_runs_once() -> None:
    assert next_run_in(ONCE, 0, fatal=False, chance=CHANCE) is None


def test_endless_growth_stays_under_the_cap() -> None:
    policy = RetryPolicy(attempts=1000, base=1.0, factor=100.0, max=600.0)
    wait = next_run_in(policy, 900, fatal=False, chance=CHANCE)
    assert wait is not None
    assert wait <= 600.0
