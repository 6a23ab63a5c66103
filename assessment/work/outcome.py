"""What one delivery of a job came to: a closed set; each is settled in exactly one way."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Done:
    """The result is in the store, under this key."""

    output: str | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """Fatal: the same job never works. It ends, and somebody has to look."""

    error: str


@dataclass(frozen=True, slots=True)
class Failed:
    """Not fatal: it is delivered again later, until its attempts are used up."""

    error: str


@dataclass(frozen=True, slots=True)
class HandedBack:
    """There is no time for the rest here; what is done was saved. `counts`: nothing new was."""

    reason: str
    counts: bool = False


@dataclass(frozen=True, slots=True)
class Skipped:
    """Nobody wants it any more, or its end was told already."""

    reason: str


Outcome = Done | Refused | Failed | HandedBack | Skipped


class StopWork(Exception):  # noqa: N818 - not an error: it carries an outcome out of the work
    """Raised between two steps of a job."""

    def __init__(self, outcome: HandedBack | Skipped) -> None:
        super().__init__(outcome.reason)
        self.outcome = outcome
