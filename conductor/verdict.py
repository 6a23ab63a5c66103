"""From a handler's outcome to the one event that will be written for it."""

import random
from dataclasses import dataclass, field

from conductor.retry import Again, Exhausted, Policy, after
from switchyard.handlers import Failed, HandedOver, Invalid, Outcome, Retry, Success
from switchyard.ledger import clean

MAY_HAVE_BEEN_SENT = "may have been sent, and is never sent twice (at_most_once): "


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the event says: its status, and the columns beside it."""

    status: str
    error: str | None = None
    retry_seconds: float | None = None
    detail: str | None = None


RUNNING = Verdict("RUNNING")


@dataclass(frozen=True, slots=True)
class Judge:
    """Applies an action's retry policy and delivery mode."""

    policy: Policy
    at_most_once: bool = False
    chance: random.Random = field(default_factory=random.Random)

    def verdict(self, outcome: Outcome, attempt: int) -> Verdict:
        """Every outcome becomes exactly one verdict, whatever is in it."""
        try:
            return self._verdict(outcome, attempt)
        except Exception as error:  # noqa: BLE001 - a handler's detail may be anything at all
            return poison(error)

    def _verdict(self, outcome: Outcome, attempt: int) -> Verdict:
        detail = clean.detail(outcome.detail)
        match outcome:
            case Success():
                return Verdict("SUCCESSFUL", detail=detail)
            case HandedOver():
                return Verdict("QUEUED", detail=detail)
            case Failed():
                return Verdict("FAILED", clean.text(outcome.error), detail=detail)
            case Invalid():
                return Verdict("INVALID", clean.text(outcome.error), detail=detail)
            case Retry():
                return self._again(outcome, attempt, detail)

    def _again(self, outcome: Retry, attempt: int, detail: str | None) -> Verdict:
        if self.at_most_once and outcome.sent:
            return Verdict("FAILED", clean.text(MAY_HAVE_BEEN_SENT + outcome.error), detail=detail)
        match after(self.policy, attempt, outcome, chance=self.chance):
            case Again(seconds):
                return Verdict("BACKOFF", clean.text(outcome.error), round(seconds, 3), detail)
            case Exhausted():
                return Verdict("RETRIES_EXHAUSTED", clean.text(outcome.error), detail=detail)


def poison(error: Exception) -> Verdict:
    """What is written where the outcome itself cannot be."""

    return Verdict(
        "FAILED", f"its outcome could not be written ({type(error).__name__}); the conductor's log has more"
    )
