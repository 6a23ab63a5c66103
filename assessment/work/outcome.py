"""The outcomes of a delivery of a job: a closed set; each is settled in exactly one way."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Done:
    """The result is in the store under this key."""

    output: str | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """Fatal: the job can never succeed. It ends and needs review."""

    error: str


@dataclass(frozen=True, slots=True)
class Failed:
    """Not fatal: the job is delivered again later, until its attempts are used up.

    `counts`: whether this is an attempt; problems that the operator has to repair are not.
    """

    error: str
    counts: bool = True


@dataclass(frozen=True, slots=True)
class HandedBack:
    """Returned for lack of time; completed chunks are saved. `counts` as an attempt if no chunk was saved."""

    reason: str
    counts: bool = False


@dataclass(frozen=True, slots=True)
class Skipped:
    """The job was canceled, or its end was reported before."""

    reason: str


Outcome = Done | Refused | Failed | HandedBack | Skipped


class StopWork(Exception):  # noqa: N818 - not an error: it carries an outcome out of the work
    """Raised between two steps to end the work with an outcome."""

    def __init__(self, outcome: HandedBack | Skipped) -> None:
        super().__init__(outcome.reason)
        self.outcome = outcome
