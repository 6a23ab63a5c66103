"""The main loop: poll the queue, handle the message, wait after errors; until a signal or a fatal error."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass

from assessment.work import tracing
from assessment.work.deadline import Stop
from assessment.work.errors import FatalQueueError, transient
from assessment.work.keeper import Keeper
from assessment.work.outcome import HandedBack
from assessment.work.pipeline import Pipeline
from assessment.work.queue import WorkQueue
from assessment.work.settings import Settings
from assessment.work.state import ERROR, RUNNING, STOPPED, State
from assessment.work.status import Reporter
from switchyard.process.exit import Exit
from switchyard.process.log import get_logger

RESERVE = 3.0
"""Seconds before the end of the grace period at which a job that reached no step is returned."""
ANSWERING = 0.5
"""Seconds to let the response be sent after a check has seen the error."""

log = get_logger(__name__)


@dataclass
class Worker:
    settings: Settings
    state: State
    stop: Stop
    queue: WorkQueue
    reporter: Reporter
    keeper: Keeper
    pipeline: Pipeline

    def run(self) -> Exit:
        self.state.status = RUNNING
        self.state.heartbeat = time.monotonic()
        try:
            if self._until_done(self._open):
                self.keeper.start()
                self.reporter.of_itself("started", self.state)
            while not self.stop.asked:
                self._until_done(self._once)
            self.state.status = STOPPED
            self.keeper.stop()
            self._leave()
        except FatalQueueError as error:
            return self._give_up(error)
        return Exit.OK

    def overrun(self) -> None:
        """Called by the keeper's thread: if the grace period is nearly over, return the message and exit."""
        if self.stop.left() > RESERVE:
            return
        held = self.keeper.take()
        if held is None:
            return  # between jobs, or being settled: the loop ends by itself
        with tracing.during(held.job, self.queue.name):
            log.warning("the job reached no step before the end of the grace period; its message is returned")
            try:
                given_back = HandedBack("the worker stops")
                self.pipeline.settler.settle(held.message, held.job, given_back, held.report)
                self._leave()
            except Exception:
                log.exception(
                    "the message could not be returned; it will be redelivered after its visibility timeout"
                )
            finally:
                os._exit(Exit.OK)

    def _open(self) -> None:
        self.queue.find()
        self._open_status()
        self.state.queue_answers = 1
        log.info("worker started", worker=self.reporter.worker, queue_name=self.queue.name)

    def _open_status(self) -> None:
        """Find the status queue; if it is missing and was not set explicitly, log that and run without."""
        if self.reporter.queue is None:
            return
        try:
            self.reporter.queue.find()
        except FatalQueueError as error:
            if self.settings.status_named or not error.missing:
                raise
            log.warning(
                "no status messages are sent: set SQS_STATUS_QUEUE_NAME", queue_name=self.reporter.queue.name
            )
            self.reporter.queue = None

    def _once(self) -> None:
        message = self.queue.receive(self.settings.wait, self.settings.visibility)
        self.state.queue_answers = 1
        if message is None:
            return
        if self.stop.asked:
            self.queue.hide(message, 0)  # it arrived after the stop was requested
            return
        self.pipeline.handle(message)

    def _until_done(self, step: Callable[[], None]) -> bool:
        """Run a step, retrying after errors that may pass, with a pause; False if a stop was requested."""
        while True:
            self.state.heartbeat = time.monotonic()
            tracing.between_jobs()
            try:
                step()
            except FatalQueueError:
                raise
            except Exception as error:
                self.state.queue_answers = 0
                if transient(error):
                    log.warning("the queue did not answer; waiting", error=str(error))
                else:
                    log.exception("unexpected error; waiting")
            else:
                return True
            finally:
                self.keeper.take()
            if not self._waited():
                return False

    def _waited(self) -> bool:
        until = time.monotonic() + self.settings.pause
        while not self.stop.asked and time.monotonic() < until:
            time.sleep(0.05)
        return not self.stop.asked

    def _leave(self) -> None:
        try:
            self.reporter.of_itself("ended", self.state)
        except FatalQueueError as error:
            log.warning("the end of the worker could not be reported", error=str(error))
        log.info("worker ended", done=self.state.done, failed=self.state.failed)

    def _give_up(self, error: FatalQueueError) -> Exit:
        """Wait until a health check has read the error, so that the platform knows the cause."""
        self.state.status = ERROR
        log.critical("fatal error of the queue", error=str(error))
        until = time.monotonic() + self.settings.fatal_hold
        while not self.state.error_seen and time.monotonic() < until and not self.stop.asked:
            self.state.heartbeat = time.monotonic()
            time.sleep(0.05)
        time.sleep(ANSWERING if self.state.error_seen else 0)
        self.keeper.stop()
        if self.reporter.queue is not None and self.reporter.queue.url:
            self._leave()
        return error.exit_with
