"""The outcome of one delivery of a job: a closed set; each is settled in exactly one way."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Done:
    """The result is in the store, under this key."""

    output: str | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """Fatal: the same job can never succeed. It ends, and needs review."""

    error: str


@dataclass(frozen=True, slots=True)
class Failed:
    """Not fatal: it is delivered again later, until its attempts are used up.

    `counts`: as one of them; what the operator has to repair does not.
    """

    error: str
    counts: bool = True


@dataclass(frozen=True, slots=True)
class HandedBack:
    """There is no time for the rest here; what is done was saved. `counts`: nothing new was."""

    reason: str
    counts: bool = False


@dataclass(frozen=True, slots=True)
class Skipped:
    """It was canceled, or its end was reported before."""

    reason: str


Outcome = Done | Refused | Failed | HandedBack | Skipped


class StopWork(Exception):  # noqa: N818 - not an error: it carries an outcome out of the work
    """Raised between two steps of a job."""

    def __init__(self, outcome: HandedBack | Skipped) -> None:
        super().__init__(outcome.reason)
        self.outcome = outcome
