"""Every outcome becomes exactly one event, whatever the handler put into it."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from conductor.outcomes.decide import decide
from switchyard.handlers import Failed, HandedOver, Invalid, Outcome, Retry, Success
from tests.unit.conductor.test_retry import Policy

ENDS = [
    (Success({"a": 1}), "SUCCESSFUL", None),
    (HandedOver(), "QUEUED", None),
    (Failed("no"), "FAILED", "no"),
    (Invalid("bad"), "INVALID", "bad"),
]


@pytest.mark.parametrize(("outcome", "status", "error"), ENDS)
def test_outcomes_that_need_no_policy(outcome: Outcome, status: str, error: str | None) -> None:
    decision = decide(outcome, 1, Policy())
    assert (decision.status, decision.error, decision.retry_seconds) == (status, error, None)


def test_a_retry_backs_off_and_then_is_exhausted() -> None:
    policy = Policy(attempts=2)
    first, last = decide(Retry("no"), 1, policy), decide(Retry("no"), 2, policy)
    assert first.status == "BACKOFF"
    assert first.retry_seconds is not None
    assert last.status == "RETRIES_EXHAUSTED"
    assert last.retry_seconds is None


def test_a_refusal_is_never_the_last_and_does_not_count_later() -> None:
    policy = Policy(attempts=2)
    refused = decide(Retry("quota", refused=True, detail={"status": 403}), 9, policy)
    assert (refused.status, refused.detail) == ("BACKOFF", '{"status": 403, "refused": true}')
    assert decide(Retry("no"), 10, policy, refused=9).status == "BACKOFF"
    assert decide(Retry("no"), 11, policy, refused=9).status == "RETRIES_EXHAUSTED"


def test_at_most_once_retries_only_what_was_not_sent() -> None:
    assert decide(Retry("refused", sent=False), 1, Policy(), at_most_once=True).status == "BACKOFF"
    sent = decide(Retry("no answer"), 1, Policy(), at_most_once=True)
    assert sent.status == "FAILED"
    assert sent.error is not None
    assert "may have been sent" in sent.error


class Hostile(Mapping[str, Any]):
    """A detail that fails when it is read."""

    def __getitem__(self, key: str) -> Any:
        raise RuntimeError("no")

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError("no")

    def __len__(self) -> int:
        return 1


def test_a_detail_that_cannot_be_read_ends_failed() -> None:
    decision = decide(Success(Hostile()), 1, Policy())
    assert decision.status == "FAILED"
    assert decision.error is not None
    assert "could not be written" in decision.error
