"""The status queue as a source: workers report on their jobs and on themselves.

A job on a queue has no name to look by: what stays silent ends by its timeout. A message that nobody can
read goes to the inbox with its text, and so does one that the ledger refuses again and again: none comes for
ever. An end that came often for other reasons (a store that is full, a caboose that died) is not poison.
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
        """Make the client and find the queue."""
        await self._queue.start()

    async def observations(self) -> AsyncIterator[Seen]:
        """Every message, as it comes."""
        while True:
            messages = await self._queue.receive(self._action.wait, self._action.visibility)
            self._heard = time.monotonic()
            for message in messages:
                yield self._read(message)

    def answers_for(self, _uuid: UUID, _handed: Mapping[str, Any], /) -> bool:
        """Any caboose may receive a message; the ledger's locks order them."""
        return True

    def present(self, _uuid: UUID, _run: int, /) -> bool | None:
        """Unknown: a queue cannot be searched."""
        return None

    async def look(self, _uuid: UUID, _run: int, /) -> Observation | None:
        """Never called: see `can_look`."""
        return None

    async def log(self, _observation: Observation, /) -> bytes | None:
        """Workers write theirs to the store themselves, where they do."""
        return None

    async def stop_execution(self, uuid: UUID, run: int, reason: str) -> None:
        """The `cancel` object, which the worker reads before the job and between chunks."""
        await self._store_threads.run(self._store.put, Places(uuid, run).cancel, reason.encode())

    async def forget(self, observation: Observation) -> None:
        """Acknowledge the message that reported the end."""
        if observation.handle is not None:
            await self._queue.acknowledge(observation.handle)

    async def ready(self) -> bool:
        """A poll was answered lately."""
        return time.monotonic() - self._heard < HEARD_WITHIN

    async def close(self) -> None:
        """A running poll is abandoned; its messages return after their visibility timeout."""

    def _read(self, message: Message) -> Seen:
        """Whatever a message raises concerns that message alone."""
        try:
            return self._seen(message)
        except Exception as error:  # noqa: BLE001 - a stranger wrote it
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
        """Its end becomes an action; where none is configured, a failure alone is for a person to see."""
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
            # The queue delivers the job again; a BACKOFF in the ledger would make conductor send another.
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
