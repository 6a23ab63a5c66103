"""The model: what the design says of one thread, in plain Python and without a database."""

from dataclasses import dataclass, field

RANK = ["PENDING", "QUEUED", "RUNNING", "BACKOFF"]
ENDS = ["SUCCESSFUL", "FAILED", "CANCELED", "TIMED_OUT", "INVALID", "RETRIES_EXHAUSTED"]
STATUSES = [*RANK, *ENDS, "INFO"]

Event = tuple[str, int | None, int | None]


class RefusedError(Exception):
    """The ledger must raise an error and write nothing."""


@dataclass
class Thread:
    """A thread and the events it kept, each with whether it was ignored."""

    status: str = "PENDING"
    run: int = 1
    attempt: int = 0
    tries: int = 0
    events: list[tuple[str, int, int, bool]] = field(default_factory=list)

    @property
    def ended(self) -> bool:
        return self.status in ENDS

    @property
    def state(self) -> tuple[str, int, int, int]:
        return self.status, self.run, self.attempt, self.tries

    def take(self, event: Event) -> None:
        """Record one event: it moves the thread, is ignored, or is refused."""
        status, given_run, given_attempt = event
        run = self.run if given_run is None else given_run
        attempt = given_attempt if given_attempt is not None else (0 if run > self.run else self.attempt)
        if run > self.run:
            self._open(status, run, attempt)
            ignored = False
        elif status == "INFO":
            ignored = False
        elif run < self.run or self.ended:
            ignored = True
        else:
            ignored = not self._move(status, attempt)
        self.events.append((status, run, attempt, ignored))

    def _open(self, status: str, run: int, attempt: int) -> None:
        by_hand = status == "PENDING" and self.ended and self.status != "SUCCESSFUL"
        by_policy = status == "BACKOFF" and not self.ended
        if run != self.run + 1 or attempt != 0 or not (by_hand or by_policy):
            raise RefusedError
        self.tries = self.tries + 1 if by_policy else 0
        self.status, self.run, self.attempt = status, run, attempt

    def _move(self, status: str, attempt: int) -> bool:
        goes_on = status in ENDS or (attempt, RANK.index(status)) > (self.attempt, RANK.index(self.status))
        if goes_on:
            self.status, self.attempt = status, attempt
        return goes_on


class Gone(Thread):
    """An action that there is none of: every event is refused."""

    def take(self, event: Event) -> None:
        raise RefusedError


GONE = Gone()
