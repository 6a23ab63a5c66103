"""From a handler's outcome to the one event that will be written for it."""

import random
from dataclasses import dataclass, field

from conductor.outcomes.retry import Again, Exhausted, after
from switchyard.backoff import Policy
from switchyard.handlers import Failed, HandedOver, Invalid, Outcome, Retry, Success
from switchyard.ledger import clean

MAY_HAVE_BEEN_SENT = "may have been sent, and is never sent twice (at_most_once): "


@dataclass(frozen=True, slots=True)
class Decision:
    """What the event says: its status, and the columns beside it."""

    status: str
    error: str | None = None
    retry_seconds: float | None = None
    detail: str | None = None


RUNNING = Decision("RUNNING")


@dataclass(frozen=True, slots=True)
class Judge:
    """Applies an action's retry policy and delivery mode."""

    policy: Policy
    at_most_once: bool = False
    chance: random.Random = field(default_factory=random.Random)

    def decision(self, outcome: Outcome, attempt: int) -> Decision:
        """Every outcome becomes exactly one verdict, whatever is in it."""
        try:
            return self._verdict(outcome, attempt)
        except Exception as error:  # noqa: BLE001 - a handler's detail may be anything at all
            return poison(error)

    def _verdict(self, outcome: Outcome, attempt: int) -> Decision:
        detail = clean.detail(outcome.detail)
        match outcome:
            case Success():
                return Decision("SUCCESSFUL", detail=detail)
            case HandedOver():
                return Decision("QUEUED", detail=detail)
            case Failed():
                return Decision("FAILED", clean.text(outcome.error), detail=detail)
            case Invalid():
                return Decision("INVALID", clean.text(outcome.error), detail=detail)
            case Retry():
                return self._again(outcome, attempt, detail)

    def _again(self, outcome: Retry, attempt: int, detail: str | None) -> Decision:
        if self.at_most_once and outcome.sent:
            return Decision("FAILED", clean.text(MAY_HAVE_BEEN_SENT + outcome.error), detail=detail)
        match after(self.policy, attempt, outcome, chance=self.chance):
            case Again(seconds):
                return Decision("BACKOFF", clean.text(outcome.error), round(seconds, 3), detail)
            case Exhausted():
                return Decision("RETRIES_EXHAUSTED", clean.text(outcome.error), detail=detail)


def poison(error: Exception) -> Decision:
    """What is written where the outcome itself cannot be."""

    return Decision(
        "FAILED", f"its outcome could not be written ({type(error).__name__}); the conductor's log has more"
    )
