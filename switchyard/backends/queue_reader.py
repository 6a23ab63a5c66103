"""An SQS queue as sources read it: long polls in threads of their own, errors as ours, unusable messages."""

from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

from botocore.exceptions import BotoCoreError, ClientError

from switchyard.aws import client as aws
from switchyard.aws.errors import explained
from switchyard.aws.queue import Message, Queue
from switchyard.backends.threads import Threads
from switchyard.errors import Transient
from switchyard.sources import Notice

LONGEST_TEXT = 32_768
CALLS = 8

P = ParamSpec("P")
T = TypeVar("T")


class QueueReader:
    """One queue, read by one source."""

    def __init__(self, name: str, endpoint: str | None, region: str | None) -> None:
        self.name = name
        self._where = endpoint, region
        self._threads = Threads(CALLS)
        self._queue: Queue | None = None

    async def start(self) -> None:
        """Make the client and find the queue; ConfigError where there is none."""
        client = await self._threads.run(aws.sqs, *self._where)
        queue = Queue(client, self.name)
        await self._called(f"find the queue {self.name}", queue.find)
        self._queue = queue

    async def receive(self, wait: float, visibility: float | None = None) -> list[Message]:
        """Up to ten messages; waits for the first."""
        doing = f"read the queue {self.name}"
        try:
            return await self._called(doing, self._started.receive, wait, visibility)
        except Transient:
            raise
        except Exception as error:
            # Also where the queue is gone by now: it must not end the other sources.
            raise Transient(str(error)) from error

    async def acknowledge(self, receipt: str) -> None:
        """Delete the message; where the receipt has expired, the message comes again."""
        await self._called(f"acknowledge a message of {self.name}", self._started.delete, receipt)

    def notice(self, message: Message, reason: str, key: str | None = None) -> Notice:
        """The inbox entry for a message that cannot be used; it is acknowledged once that is recorded."""
        text = message.body if len(message.body) <= LONGEST_TEXT else message.body[:LONGEST_TEXT] + " […]"
        return Notice(
            subject=self.name,
            reason=f"a message on {self.name} could not be used: {reason}",
            key=key or message.id,
            detail={"text": text, "correlation_id": message.correlation_id},
            acknowledge=partial(self.acknowledge, message.receipt),
        )

    @property
    def _started(self) -> Queue:
        assert self._queue is not None, "start() makes the queue"
        return self._queue

    async def _called(self, doing: str, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await self._threads.run(call, *args, **kwargs)
        except (ClientError, BotoCoreError) as error:
            raise explained(error, doing) from error
