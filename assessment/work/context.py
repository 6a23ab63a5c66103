"""The context of a job: the store, progress reports, and chunks that persist."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from assessment.checkpoints import StoreChunks
from assessment.work.deadline import Deadline
from assessment.work.estimate import LONG
from assessment.work.job import Job
from assessment.work.outcome import HandedBack, Skipped, StopWork
from assessment.work.state import State
from assessment.work.status import JobReport
from assessment.work.wanted import cancelled
from switchyard.store import Store

LOOK_EVERY = 2.0
"""Minimum seconds between two checks for a cancel."""


@dataclass
class Context:
    """The context: `run(job, context)` calls `progress` between steps and must let StopWork pass through."""

    job: Job
    store: Store
    report: JobReport
    deadline: Deadline
    state: State
    clock: Callable[[], float] = time.monotonic
    saved: int = field(default=0, init=False)
    """Chunks computed and saved by this delivery."""
    found: int = field(default=0, init=False)
    """Chunks that earlier deliveries had completed."""

    def __post_init__(self) -> None:
        self._began = self._looked = self._chunk_began = self.clock()
        self._longest_chunk = 0.0

    def progress(self, done: float, step: str) -> None:
        """Report progress, 0 to 1; raises StopWork if the job should not continue."""
        now = self.clock()
        self.state.heartbeat = now
        self._expect(done, now - self._began)
        self.report.progress(done, step)
        self._check_cancel(now)
        self._check(self.deadline.too_late(self._rest(done, now)))

    def chunks(self) -> "Checkpoint":
        """Interim results of this job, shared by all deliveries and workers."""
        return Checkpoint(StoreChunks(self.store, self.job.checkpoint), self)

    def chunk_begins(self, *, found: bool) -> None:
        """Start timing a chunk; `found`: an earlier delivery has computed it."""
        self.found += found
        self._chunk_began = self.clock()

    def chunk_saved(self) -> None:
        """Check between two chunks: was the job canceled, and is there time for the next chunk?"""
        now = self.clock()
        self.state.heartbeat = now
        self.saved += 1
        self._longest_chunk = max(self._longest_chunk, now - self._chunk_began)
        self._chunk_began = now
        self._check_cancel(now)
        self._check(self.deadline.no_room(self._longest_chunk))

    def _check_cancel(self, now: float) -> None:
        if now - self._looked >= LOOK_EVERY:
            self._looked = now
            if cancelled(self.job, self.store):
                raise StopWork(Skipped("cancelled"))

    def _check(self, reason: str | None) -> None:
        if reason is not None:
            raise StopWork(HandedBack(reason, counts=not (self.deadline.stopping or self.saved)))

    def _expect(self, done: float, elapsed: float) -> None:
        """Raise the estimate of a job that is slower than expected."""
        if done >= 0.1 and elapsed / done > max(LONG, self.state.expected_duration):
            self.state.expected_duration = elapsed / done
            self.state.task_start = self._began

    def _rest(self, done: float, now: float) -> float:
        return (now - self._began) * (1 - done) / done if done > 0 else float("inf")


@dataclass(frozen=True)
class Checkpoint:
    """Chunks in the store; notifies the context after each."""

    kept: StoreChunks
    context: Context

    def load(self, name: str) -> bytes | None:
        found = self.kept.load(name)
        self.context.chunk_begins(found=found is not None)
        return found

    def save(self, name: str, content: bytes) -> None:
        self.kept.save(name, content)
        self.context.chunk_saved()
