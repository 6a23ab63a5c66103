"""The work queue: one message at a time, hidden while it is processed, then deleted or returned."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from assessment.work.errors import fatal
from assessment.work.settings import LONGEST_VISIBILITY
from switchyard.aws.queue import Message, Queue
from switchyard.process.log import get_logger

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

log = get_logger(__name__)


class WorkQueue:
    """A queue by name or URL; fatal errors are raised as FatalQueueError, others as boto3 raises them."""

    def __init__(self, client: "SQSClient", name: str) -> None:
        self._queue = Queue(client, name)
        self.name = self._queue.name

    def find(self) -> None:
        with _explained(f"find the queue {self.name}"):
            self._queue.find()

    @property
    def url(self) -> str:
        """The URL of the queue; empty until it is found."""
        return self._queue.url

    def receive(self, wait: int, visibility: int) -> Message | None:
        with _explained(f"read the queue {self.name}"):
            messages = self._queue.receive(wait, visibility, most=1)
        return messages[0] if messages else None

    def hide(self, message: Message, seconds: int) -> bool:
        """Hide the message from other workers for this long; 0 returns it. False if it is no longer ours."""
        longest = int(LONGEST_VISIBILITY - (time.monotonic() - message.received)) - 1
        with _explained(f"hold a message of {self.name}"):
            return _logged(self._queue.hide(message.receipt, max(0, min(seconds, longest))))

    def delete(self, message: Message) -> bool:
        """Delete the message; False if another worker has received it since."""
        with _explained(f"delete a message of {self.name}"):
            return _logged(self._queue.delete(message.receipt))

    def send(self, body: str, correlation_id: str | None, group: str, once: str) -> None:
        """Send a message; a FIFO queue accepts the same `once` only once in five minutes."""
        with _explained(f"send to the queue {self.name}"):
            self._queue.send(body, correlation_id, group, once)


def _logged(held: bool) -> bool:
    if not held:
        log.warning("the message is no longer held by this worker")
    return held


@contextmanager
def _explained(doing: str) -> Iterator[None]:
    try:
        yield
    except (ClientError, BotoCoreError) as error:
        ended = fatal(error, doing)
        if ended is not None:
            raise ended from error
        raise
