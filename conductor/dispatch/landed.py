"""A dispatch that came to an outcome."""

from dataclasses import dataclass

from switchyard.handlers import Outcome, Work


@dataclass(frozen=True, slots=True)
class Landed:
    """Its outcome is not written yet, so its lock is still ours."""

    work: Work
    lock: int
    outcome: Outcome
    seconds: float
