"""One report of a source on its way through caboose: what is known about it, and the next step."""

from dataclasses import dataclass
from enum import Enum
from typing import Any

from caboose.rows import Thread
from switchyard.sources import Observation, Seen

SOON = 1.0
LATER = 10.0


class NextStep(Enum):
    """What an observation needs."""

    ACKNOWLEDGE = "acknowledge"  # nothing to write: the ledger knows it already
    WRITE = "write"  # an event that does not end the run
    NOTE = "note"  # progress of a thread that is RUNNING already: an INFO event
    LATER = "later"  # conductor has not recorded the handover yet
    COMPLETE = "complete"  # archive, record, call back, forget
    FORGET = "forget"  # archive and forget: its end is recorded already; without a thread, only forget
    STOP = "stop"  # it runs, and its action ended
    LOOK = "look"  # it runs though its end is recorded: old news, or started again under the same name
    REPORT = "report"  # it is of a run that does not exist, or of an action that the source does not serve


@dataclass(slots=True, eq=False)
class Case:
    """Mutable: each step of the completion adds what it learned.

    A case that is not `finished` when its batch ends goes back to the intake, and comes again after
    `retry_in`.
    """

    seen: Seen
    thread: Thread | None = None
    step: NextStep | None = None  # None: its thread was not looked up yet
    end: Observation | None = None  # once archived: the end to record, FAILED where its output is unusable
    output: Any = None
    large: bool = False  # there is an output, too large to be held in memory with the others
    retry_in: float = SOON
    aside: bool = False  # it waits for something of its own, and must not hold up what comes after it
    finished: bool = False

    def set_aside(self, seconds: float) -> None:
        """Retry it later, separately from the others."""
        self.aside, self.retry_in = True, seconds

    @property
    def observation(self) -> Observation:
        """The observation; only for cases that have one."""
        assert isinstance(self.seen, Observation)
        return self.seen

    @property
    def known_thread(self) -> Thread:
        """The thread; only for cases that have one."""
        assert self.thread is not None
        return self.thread

    @property
    def archived(self) -> Observation:
        """The archived end to record; only for cases that have one."""
        assert self.end is not None
        return self.end
