"""Decides which event is written for a handler's outcome."""

import random

from conductor.action import Decision
from conductor.outcomes.retry import Again, Exhausted, after
from switchyard.backoff import Policy
from switchyard.handlers import Failed, HandedOver, Invalid, Outcome, Retry, Success
from switchyard.ledger import clean

MAY_HAVE_BEEN_SENT = "may have been sent, and is never sent twice (at_most_once): "

_CHANCE = random.Random()  # noqa: S311 - spreads retries over time, guards nothing


def decide(
    outcome: Outcome, attempt: int, policy: Policy, *, at_most_once: bool = False, refused: int = 0
) -> Decision:
    """The event for an outcome, always exactly one. `refused` earlier attempts do not count."""
    try:
        return _decide(outcome, attempt, policy, at_most_once, refused)
    except Exception as error:  # noqa: BLE001 - a handler's detail may be anything at all
        return unwritable(error)


def unwritable(error: Exception) -> Decision:
    """The event to write instead of one that the ledger refuses."""
    return Decision(
        "FAILED", f"its outcome could not be written ({type(error).__name__}); the conductor's log has more"
    )


def _decide(outcome: Outcome, attempt: int, policy: Policy, at_most_once: bool, refused: int) -> Decision:
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
        case Retry() if at_most_once and outcome.sent:
            return Decision("FAILED", clean.text(MAY_HAVE_BEEN_SENT + outcome.error), detail=detail)
        case Retry():
            return _again(outcome, attempt, policy, refused)
    raise TypeError(f"a handler returned {type(outcome).__name__}, which is not an outcome")


def _again(outcome: Retry, attempt: int, policy: Policy, refused: int) -> Decision:
    detail = clean.detail({**outcome.detail, "refused": True} if outcome.refused else outcome.detail)
    match after(policy, attempt, outcome, chance=_CHANCE, refused=refused):
        case Again(seconds):
            return Decision("BACKOFF", clean.text(outcome.error), round(seconds, 3), detail)
        case Exhausted():
            return Decision("RETRIES_EXHAUSTED", clean.text(outcome.error), detail=detail)
