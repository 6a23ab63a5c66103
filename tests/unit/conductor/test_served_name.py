"""An action name as configured: what its breaker hears, and what it narrows."""

import pytest

from conductor.limits.served_name import ServedName
from conductor.metrics import ConductorMetrics
from switchyard.backends.noop.handler import NoopHandler
from switchyard.backends.noop.model import NoopAction
from switchyard.handlers import Failed, HandlerContext, Outcome, Retry, Success

CONTEXT = HandlerContext(config=None, store=None, secrets={})
QUOTA = Retry("x is forbidden: exceeded quota: team", detail={"status": 403})


def served(**action: object) -> ServedName:
    configured = NoopAction.model_validate(action)
    return ServedName("drill", configured, NoopHandler("drill", configured, CONTEXT), ConductorMetrics())


@pytest.mark.parametrize(
    ("pattern", "outcome", "slows"),
    [
        ({"status": 503}, Retry("busy", detail={"status": 503}), True),
        ({"status": 503}, Retry("busy", detail={"status": 500}), False),
        ({"error": "(?i)too many"}, Failed("Too many requests"), True),
        ({"error": "(?i)too many"}, Failed("not found"), False),
        ({"error": "exceeded quota"}, QUOTA, True),
        ({"error": "exceeded quota"}, Failed("cannot create resource", {"status": 403}), False),
        ({"error": "exceeded quota", "status": 429}, QUOTA, False),
    ],
)
def test_a_breaker_counts_what_its_pattern_matches(
    pattern: dict[str, object], outcome: Outcome, slows: bool
) -> None:
    made = served(breaker={"patterns": [pattern]})
    made.observe(outcome)
    assert made.state() == {"breaker_factor": 0.5 if slows else 1.0}


def test_without_a_rate_the_breaker_narrows_the_slots_and_leaves_one() -> None:
    made = served(breaker={"patterns": [{"error": "exceeded quota"}]})
    assert made.slots(10) == 10
    for slots in (5, 2, 1, 1):
        made.observe(QUOTA)
        assert made.slots(10) == slots
    made.observe(Success())
    made.observe(Success())
    assert made.slots(10) == 1
    made.observe(Success())
    assert made.slots(10) == 2


def test_with_a_rate_the_slots_stay_and_the_refill_is_slowed() -> None:
    made = served(breaker={"patterns": [{"error": "exceeded quota"}]}, rate={"limit": "10/s"})
    made.observe(QUOTA)
    assert made.slots(10) == 10
    assert made.state()["breaker_factor"] == 0.5
