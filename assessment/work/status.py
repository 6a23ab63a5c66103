"""Status messages of the worker: about a job (started, progress, end), and about itself."""

import json
import os
import socket
import time
from collections.abc import Callable
from secrets import token_hex
from typing import Any

from assessment.work.errors import FatalQueueError, transient
from assessment.work.job import Job
from assessment.work.outcome import Done, Refused
from assessment.work.queue import WorkQueue
from assessment.work.state import State
from switchyard.process.log import get_logger
from switchyard.status import Status

EVERY = 1.0
"""Minimum seconds between two progress messages."""
LONGEST_ERROR = 4000

log = get_logger(__name__)


def worker_name() -> str:
    """A name unique to this process; a restarted worker has another name."""
    return f"{socket.gethostname()[:60]}-{os.getpid()}-{token_hex(3)}"


class Reporter:
    """Sends the status messages of one worker; does nothing without a status queue."""

    def __init__(self, queue: WorkQueue | None, worker: str, kind: str) -> None:
        self.queue, self.worker, self._kind = queue, worker, kind
        self._started = time.monotonic()
        self._said = 0

    def of_itself(self, event: str, state: State) -> None:
        """Report started, beat or ended; if one is lost, the next replaces it."""
        seconds = max(time.monotonic() - self._started, 1.0)
        self._said += 1
        body = {
            "worker": self.worker,
            "kind": self._kind,
            "event": event,
            "done": state.done,
            "failed": state.failed,
            "rate": round((state.done + state.failed) / seconds, 6),
        }
        self.try_send(body, None, self.worker, f"{self.worker}-{self._said}")

    def try_send(self, body: dict[str, Any], correlation_id: str | None, group: str, once: str) -> None:
        """Send a message that may be lost; no job fails because of that."""
        try:
            self.send(body, correlation_id, group, once)
        except FatalQueueError:
            raise
        except Exception as error:
            if not transient(error):
                raise
            log.warning("a status message could not be sent", error=str(error))

    def send(self, body: dict[str, Any], correlation_id: str | None, group: str, once: str) -> None:
        if self.queue is not None:
            self.queue.send(json.dumps(body), correlation_id, group, once)


class JobReport:
    """Status messages about one delivery of one job."""

    def __init__(self, reporter: Reporter, job: Job, clock: Callable[[], float] = time.monotonic) -> None:
        self._reporter, self._job, self._clock = reporter, job, clock
        self._seq = 0
        self._last = -EVERY

    def started(self) -> None:
        self._say(Status.RUNNING, progress=0.0, step="started")

    def progress(self, done: float, step: str) -> None:
        now = self._clock()
        if now - self._last >= EVERY:
            self._last = now
            self._say(Status.RUNNING, progress=round(min(max(done, 0.0), 1.0), 4), step=step)

    def handed_back(self, reason: str) -> None:
        """Report that the job will be delivered again."""
        self._say(Status.BACKOFF, error=reason[:LONGEST_ERROR])

    def end(self, outcome: Done | Refused) -> dict[str, Any]:
        """Report the end; on an exception, the delivery is not settled. Returns what was sent."""
        said = (
            self._body(Status.SUCCESSFUL, progress=1.0, output=outcome.output)
            if isinstance(outcome, Done)
            else self._body(Status.FAILED, fatal=True, error=outcome.error[:LONGEST_ERROR])
        )
        self._reporter.send(said, self._job.correlation_id, self._job.name, f"{self._job.name}-end")
        return said

    def _say(self, status: Status, **fields: Any) -> None:
        body = self._body(status, **fields)
        once = f"{self._job.name}-{self._job.message_id[:36]}-{self._job.delivery}-{body['seq']}"
        self._reporter.try_send(body, self._job.correlation_id, self._job.name, once[:128])

    def _body(self, status: Status, **fields: Any) -> dict[str, Any]:
        self._seq += 1
        return {
            "version": 1,
            "action_uuid": str(self._job.uuid) if self._job.uuid else None,
            "run": self._job.run,
            **({} if self._job.uuid else {"job": self._job.name}),
            "status": status,
            "fatal": False,
            **fields,
            "worker": self._reporter.worker,
            "delivery": self._job.delivery,
            "seq": self._seq,
        }
