"""What a function that runs as an action (type `python`) may use and raise.

Any exception is a failed attempt, which the action's `retry` repeats; these two say more.
"""

from contextvars import ContextVar
from dataclasses import dataclass
from uuid import UUID


class TaskFailed(Exception):  # noqa: N818 - named for what happened
    """It will not work: the action ends FAILED, without another attempt."""


class TaskRetry(Exception):  # noqa: N818 - named for what is asked for
    """Try again, after `delay` seconds if that is known."""

    def __init__(self, message: str, delay: float | None = None) -> None:
        super().__init__(message)
        self.delay = delay


@dataclass(frozen=True, slots=True)
class Attempt:
    """The action that is being run. Every attempt of a run has the same `uuid` and `run`."""

    uuid: UUID
    run: int
    attempt: int
    last_attempt: bool
    action_name: str
    correlation_id: str | None


attempt: ContextVar[Attempt] = ContextVar("attempt")


def current() -> Attempt:
    """The action that this function runs for; LookupError if it was not called by conductor."""
    return attempt.get()
