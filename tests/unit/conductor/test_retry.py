"""Backoff: within the ceiling, under the cap, honest about what was asked, and over at the last attempt."""

import random
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from conductor.outcomes.retry import LONGEST_ASKED, Again, Exhausted, after, is_last
from switchyard.backoff import ceiling as capped
from switchyard.handlers import Retry


@dataclass(frozen=True)
class Policy:
    attempts: int = 8
    base: float = 1.0
    factor: float = 2.0
    max: float = 600.0


def ceiling(policy: Policy, attempt: int) -> float:
    return capped(policy.base, policy.factor, policy.max, attempt)


policies = st.builds(
    Policy,
    attempts=st.integers(1, 50),
    base=st.floats(0.001, 100),
    factor=st.floats(1, 10),
    max=st.floats(0.001, 10_000),
)


@given(policies, st.integers(1, 2_000), st.integers())
def test_a_wait_is_between_nothing_and_its_ceiling(policy: Policy, attempt: int, seed: int) -> None:
    step = after(policy, attempt, Retry("no"), chance=random.Random(seed))
    if attempt >= policy.attempts:
        assert step == Exhausted()
    else:
        assert isinstance(step, Again)
        assert 0 <= step.seconds <= ceiling(policy, attempt) <= policy.max


@given(policies, st.integers(1, 2_000))
def test_ceilings_never_fall(policy: Policy, attempt: int) -> None:
    assert ceiling(policy, attempt) <= ceiling(policy, attempt + 1)


def test_ceilings_grow_by_the_factor_up_to_the_cap() -> None:
    assert [ceiling(Policy(max=10), n) for n in range(1, 7)] == [1, 2, 4, 8, 10, 10]


def test_jitter_is_full() -> None:
    chance = random.Random(7)
    drawn = [after(Policy(), 4, Retry("no"), chance=chance) for _ in range(2_000)]
    seconds = sorted(step.seconds for step in drawn if isinstance(step, Again))
    assert seconds[0] < 0.2
    assert seconds[-1] > 7.8
    assert 3.7 < sum(seconds) / len(seconds) < 4.3


@given(policies, st.floats(-1e9, 1e18), st.integers())
def test_a_requested_wait_is_never_cut_short_but_bounded(policy: Policy, asked: float, seed: int) -> None:
    step = after(policy, 0, Retry("later", delay=asked), chance=random.Random(seed))
    assert isinstance(step, Again)
    assert step.seconds >= min(max(asked, 0), LONGEST_ASKED)
    assert step.seconds <= LONGEST_ASKED + policy.base


def test_a_requested_wait_does_not_outlive_the_last_attempt() -> None:
    assert after(Policy(attempts=3), 3, Retry("no", delay=5), chance=random.Random(1)) == Exhausted()
    assert is_last(Policy(attempts=3), 3)
    assert not is_last(Policy(attempts=3), 2)
