"""The statuses of a thread, and INFO, which changes nothing: the words of the ledger."""

from enum import StrEnum


class Status(StrEnum):
    """The status of a run in an event. Equal to its text, so rows and JSON need no translation."""

    PENDING = "PENDING"
    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    BACKOFF = "BACKOFF"
    SUCCESSFUL = "SUCCESSFUL"
    FAILED = "FAILED"
    CANCELED = "CANCELED"
    TIMED_OUT = "TIMED_OUT"
    INVALID = "INVALID"
    RETRIES_EXHAUSTED = "RETRIES_EXHAUSTED"
    INFO = "INFO"

    @property
    def ended(self) -> bool:
        """Nothing follows it within the run."""
        return self in ENDS


ENDS = frozenset(
    {
        Status.SUCCESSFUL,
        Status.FAILED,
        Status.CANCELED,
        Status.TIMED_OUT,
        Status.INVALID,
        Status.RETRIES_EXHAUSTED,
    }
)
