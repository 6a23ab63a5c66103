"""The bucket's promise, on a clock that the test moves."""

import math

from hypothesis import given
from hypothesis import strategies as st

from conductor.limits.bucket import Bucket
from tests.unit.conductor.clock import Clock

steps = st.lists(st.tuples(st.floats(0, 5), st.integers(0, 50), st.integers(0, 10)), max_size=60)


@given(st.floats(0.1, 100), st.integers(1, 200), steps)
def test_every_window_stays_under_rate_times_time_plus_burst(
    rate: float, burst: int, moves: list[tuple[float, int, int]]
) -> None:
    clock = Clock()
    bucket = Bucket(rate, burst, clock)
    taken: list[tuple[float, int]] = []
    for pause, wanted, unused in moves:
        clock.now += pause
        got = bucket.take(wanted)
        back = min(got, unused)
        bucket.put_back(back)
        assert 0 <= got <= wanted
        taken.append((clock.now, got - back))
    for i, (start, _) in enumerate(taken):
        total = 0
        for end, count in taken[i:]:
            total += count
            assert total <= burst + rate * (end - start) + 1e-6


@given(st.floats(0.1, 100), st.floats(0.01, 1))
def test_the_wait_ends_when_a_token_is_there(rate: float, factor: float) -> None:
    clock = Clock()
    bucket = Bucket(rate, 1, clock)
    bucket.slow_to(factor)
    assert bucket.wait() == 0
    assert bucket.take(1) == 1
    wait = bucket.wait()
    assert math.isclose(wait, 1 / (rate * factor), rel_tol=1e-6)
    clock.now += wait * 0.99
    assert bucket.take(1) == 0
    clock.now += wait * 0.02
    assert bucket.take(1) == 1


def test_a_slowed_bucket_refills_at_its_share() -> None:
    clock = Clock()
    bucket = Bucket(100, 100, clock)
    assert bucket.take(1000) == 100
    bucket.slow_to(0.5)
    clock.now += 1
    assert bucket.take(1000) == 50
    assert bucket.factor == 0.5


def test_a_clock_that_goes_back_gives_nothing() -> None:
    clock = Clock()
    bucket = Bucket(10, 5, clock)
    assert bucket.take(5) == 5
    clock.now -= 100
    assert bucket.take(5) == 0


def test_a_burst_below_one_still_lets_one_through() -> None:
    bucket = Bucket(0.5, 0, Clock())
    assert bucket.take(3) == 1


def test_what_is_put_back_can_be_taken_again() -> None:
    bucket = Bucket(0.001, 10, Clock())
    assert bucket.take(10) == 10
    bucket.put_back(4)
    assert bucket.take(10) == 4
    bucket.put_back(100)
    assert bucket.take(100) == 10, "never more than the burst"


def test_time_before_a_change_of_the_rate_counts_at_the_old_rate() -> None:
    clock = Clock()
    bucket = Bucket(10, 100, clock)
    assert bucket.take(100) == 100
    clock.now += 2
    bucket.slow_to(0.1)
    assert bucket.take(100) == 20


def test_the_wait_counts_the_time_that_has_passed() -> None:
    clock = Clock()
    bucket = Bucket(1, 1, clock)
    assert bucket.take(1) == 1
    clock.now += 0.75
    assert math.isclose(bucket.wait(), 0.25)
    clock.now += 0.25
    assert math.isclose(bucket.tokens(), 1)
    assert bucket.wait() == 0
