"""What a function that runs as an action (type `python`) can use and raise.

Any exception is a failed attempt, which the action's `retry` repeats; these two are more specific.
"""

from contextvars import ContextVar
from dataclasses import dataclass
from uuid import UUID


class TaskFailed(Exception):  # noqa: N818 - named for what happened
    """The action cannot succeed: it ends FAILED, without another attempt."""


class TaskRetry(Exception):  # noqa: N818 - named for what is asked for
    """Try again, after `delay` seconds if given."""

    def __init__(self, message: str, delay: float | None = None) -> None:
        super().__init__(message)
        self.delay = delay


@dataclass(frozen=True, slots=True)
class Attempt:
    """The action being run. Every attempt of a run has the same `uuid` and `run`."""

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
