"""The status queue as a source: workers report on their jobs and on themselves.

A queue cannot be searched for a job: a job without messages ends by its timeout. Unreadable messages go to
the inbox with their text, and so do messages that the ledger refuses repeatedly, so that none is received
endlessly. An end received often for other reasons (a full store, a crashed caboose) is not poison.
"""

import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID

from switchyard.aws.queue import Message
from switchyard.backends.queue_reader import QueueReader
from switchyard.backends.sqs.model import SqsAction
from switchyard.backends.sqs.status_message import OwnReport, Report, UnreadableMessage, WorkerReport, read
from switchyard.backends.threads import Threads
from switchyard.places import Places
from switchyard.sources import Beat, Notice, Notification, Observation, Seen, Unfollowed
from switchyard.status import Status
from switchyard.store import Store

HEARD_WITHIN = 60.0


class SqsSource:
    """Reads one status queue."""

    one_observer = False
    can_look = False

    def __init__(self, action: SqsAction, store: Store) -> None:
        self.name = f"sqs {action.status_queue.rsplit('/', 1)[-1]}"
        self._action = action
        self._store = store
        self._queue = QueueReader(action.status_queue, action.endpoint, action.region)
        self._store_threads = Threads(4)
        self._heard = 0.0

    async def start(self) -> None:
        """Create the client and find the queue."""
        await self._queue.start()

    async def observations(self) -> AsyncIterator[Seen]:
        """Every message as it arrives."""
        while True:
            messages = await self._queue.receive(self._action.wait, self._action.visibility)
            self._heard = time.monotonic()
            for message in messages:
                yield self._read(message)

    def answers_for(self, _uuid: UUID, _handed: Mapping[str, Any], /) -> bool:
        """Always true: any caboose may receive a message, and the ledger's locks order them."""
        return True

    def present(self, _uuid: UUID, _run: int, /) -> bool | None:
        """Unknown: a queue cannot be searched."""
        return None

    async def look(self, _uuid: UUID, _run: int, /) -> Observation | None:
        """Never called: see `can_look`."""
        return None

    async def log(self, _observation: Observation, /) -> bytes | None:
        """Always None: workers write their logs to the store themselves, if at all."""
        return None

    async def stop_execution(self, uuid: UUID, run: int, reason: str) -> None:
        """Write the `cancel` object, which the worker reads before the job and between chunks."""
        await self._store_threads.run(self._store.put, Places(uuid, run).cancel, reason.encode())

    async def forget(self, observation: Observation) -> None:
        """Acknowledge the message that reported the end."""
        if observation.handle is not None:
            await self._queue.acknowledge(observation.handle)

    async def ready(self) -> bool:
        """Whether a poll was answered recently."""
        return time.monotonic() - self._heard < HEARD_WITHIN

    async def close(self) -> None:
        """Abandon a running poll; its messages return after their visibility timeout."""

    def _read(self, message: Message) -> Seen:
        """Read one message; errors concern only that message."""
        try:
            return self._seen(message)
        except Exception as error:  # noqa: BLE001 - the message is untrusted
            return self._queue.notice(message, f"{type(error).__name__}: {error}")

    def _seen(self, message: Message) -> Seen:
        try:
            report = read(message.body)
        except UnreadableMessage as error:
            return self._queue.notice(message, str(error))
        if isinstance(report, WorkerReport):
            return self._beat(report, message)
        poison = None
        if message.deliveries > self._action.poison_after:
            often = f"delivered {message.deliveries} times, never recorded"
            poison = self._queue.notice(message, often)
        if isinstance(report, OwnReport):
            return self._own(report, message, poison)
        return self._observation(report, message, poison)

    def _own(self, report: OwnReport, message: Message, poison: Notice | None) -> Seen:
        """Notify the configured action of its end; without one, only a failure is reported, in the inbox."""
        notify = self._action.notify
        key = report.job or message.correlation_id or message.id
        if notify is None and report.status is Status.FAILED:
            return self._queue.notice(message, f"a job of a front end failed: {report.error}", key)
        acknowledge = partial(self._queue.acknowledge, message.receipt)
        if notify is None or not report.status.ended:
            return Unfollowed(acknowledge)
        if poison is not None:
            return poison
        parameters = {
            "job": report.job,
            "status": report.status,
            "error": report.error,
            "output": report.output,
            "correlation_id": message.correlation_id,
        }
        once = f"the end of {key[:200]} on {self._queue.name[-200:]}"
        return Unfollowed(acknowledge, Notification(notify, once, parameters, message.correlation_id))

    def _observation(self, report: Report, message: Message, poison: Notice | None) -> Observation:
        detail = {**report.details, "message_id": message.id}
        if report.status is Status.BACKOFF:
            # The queue delivers the job again; a BACKOFF in the ledger would make conductor send another one.
            noted = {**detail, "note": "the worker gave the job back, it will be delivered again"}
            return self._progress(replace(report, status=Status.INFO), noted, message, poison)
        if not report.status.ended:
            return self._progress(report, detail, message, poison)
        return Observation(
            *(report.uuid, report.run, report.status, report.error),
            fatal=report.fatal,
            record=message.body.encode(errors="replace"),
            detail=detail,
            handle=message.receipt,
            poison=poison,
        )

    def _progress(
        self, report: Report, detail: dict[str, Any], message: Message, poison: Notice | None
    ) -> Observation:
        return Observation(
            *(report.uuid, report.run, report.status, report.error),
            detail=detail,
            poison=poison,
            acknowledge=partial(self._queue.acknowledge, message.receipt),
        )

    def _beat(self, report: WorkerReport, message: Message) -> Beat:
        return Beat(
            *(report.worker, report.kind, report.event, report.done, report.failed, report.rate),
            acknowledge=partial(self._queue.acknowledge, message.receipt),
        )
