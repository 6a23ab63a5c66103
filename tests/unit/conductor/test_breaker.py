"""The breaker slows on what its patterns name, and nothing else, and always recovers."""

from hypothesis import given
from hypothesis import strategies as st

from conductor.limits.breaker import Breaker, all_of, by_error, by_status
from switchyard.handlers import Failed, HandedOver, Invalid, Outcome, Retry, Success

BUSY = Retry("busy", detail={"status": 503})


def make() -> Breaker:
    patterns = [by_status({429, 503}), by_error("exceeded quota")]
    return Breaker(patterns, slow_by=0.5, floor=0.01, recover_by=1.5)


def test_matches_slow_it_down_to_the_floor() -> None:
    breaker = make()
    seen = []
    for _ in range(10):
        breaker.observe(BUSY)
        seen.append(breaker.factor)
    assert seen[:3] == [0.5, 0.25, 0.125]
    assert seen[-1] == 0.01
    assert not breaker.observe(BUSY)


def test_a_message_is_searched() -> None:
    breaker = make()
    assert breaker.observe(Failed('pods "x" is forbidden: exceeded quota: team'))
    assert breaker.factor == 0.5


def test_other_errors_change_nothing() -> None:
    breaker = make()
    for outcome in (Retry("reset"), Failed("no", {"status": 404}), Invalid("exceeded quota"), Success()):
        assert not breaker.observe(outcome)
    assert breaker.factor == 1


def test_a_status_that_is_not_a_number_matches_nothing() -> None:
    assert not make().observe(Retry("?", detail={"status": "503"}))


def test_both_parts_of_one_pattern_must_match() -> None:
    pattern = all_of([by_status({403}), by_error("quota")])
    assert pattern(Failed("quota", {"status": 403}))
    assert not pattern(Failed("quota", {"status": 500}))
    assert not pattern(Failed("forbidden", {"status": 403}))


outcomes = st.sampled_from([BUSY, Success(), HandedOver(), Failed("x"), Invalid("y")])


@given(st.lists(outcomes, max_size=200))
def test_the_factor_stays_within_its_bounds_and_comes_back(seen: list[Outcome]) -> None:
    breaker = make()
    for outcome in seen:
        before = breaker.factor
        assert breaker.observe(outcome) == (breaker.factor != before)
        assert 0.01 <= breaker.factor <= 1
    for _ in range(12):  # 0.01 x 1.5^12 > 1
        breaker.observe(Success())
    assert breaker.factor == 1
