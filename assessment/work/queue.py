"""The work queue: one message at a time, held while it is worked on, then deleted or released."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from assessment.work.errors import fatal, receipt_expired
from assessment.work.settings import LONGEST_VISIBILITY
from switchyard.process.log import get_logger

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import MessageTypeDef

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Message:
    """One delivery of one message."""

    id: str
    body: str
    receipt: str
    deliveries: int
    correlation_id: str | None
    received: float = field(default_factory=time.monotonic)


class WorkQueue:
    """A queue by name or URL; fatal errors come as FatalQueueError, others as boto3 has them."""

    def __init__(self, client: "SQSClient", name: str) -> None:
        self._client = client
        self.name = name.rsplit("/", 1)[-1]
        self.url = name if "://" in name else ""

    def find(self) -> None:
        with _explained(f"find the queue {self.name}"):
            self.url = self.url or self._client.get_queue_url(QueueName=self.name)["QueueUrl"]

    def receive(self, wait: int, visibility: int) -> Message | None:
        with _explained(f"read the queue {self.name}"):
            answer = self._client.receive_message(
                QueueUrl=self.url,
                MaxNumberOfMessages=1,
                WaitTimeSeconds=wait,
                VisibilityTimeout=visibility,
                MessageSystemAttributeNames=["ApproximateReceiveCount"],
                MessageAttributeNames=["CorrelationId"],
            )
        messages = answer.get("Messages", [])
        return _message(messages[0]) if messages else None

    def hide(self, message: Message, seconds: int) -> bool:
        """Nobody else gets it for so long; 0 gives it back. False where it is no longer ours."""
        longest = int(LONGEST_VISIBILITY - (time.monotonic() - message.received)) - 1
        with _explained(f"hold a message of {self.name}"):
            return self._ours(
                lambda: self._client.change_message_visibility(
                    QueueUrl=self.url,
                    ReceiptHandle=message.receipt,
                    VisibilityTimeout=max(0, min(seconds, longest)),
                )
            )

    def delete(self, message: Message) -> bool:
        """It is done; False where it had gone to somebody else meanwhile."""
        with _explained(f"delete a message of {self.name}"):
            return self._ours(
                lambda: self._client.delete_message(QueueUrl=self.url, ReceiptHandle=message.receipt)
            )

    @staticmethod
    def _ours(call: Callable[[], object]) -> bool:
        try:
            call()
        except ClientError as error:
            if not receipt_expired(error):
                raise
            log.warning("the message is no longer held by this worker", error=str(error))
            return False
        return True

    def send(self, body: str, correlation_id: str | None, group: str, once: str) -> None:
        """`once` names the message: a FIFO queue takes it once in five minutes."""
        ordered = {"MessageGroupId": group, "MessageDeduplicationId": once} if self.fifo else {}
        named = {"CorrelationId": {"DataType": "String", "StringValue": correlation_id}}
        with _explained(f"send to the queue {self.name}"):
            self._client.send_message(
                QueueUrl=self.url,
                MessageBody=body,
                MessageAttributes=named if correlation_id else {},  # type: ignore[arg-type]  # a plain dict
                **ordered,  # type: ignore[arg-type]  # keywords or none
            )

    @property
    def fifo(self) -> bool:
        return self.name.endswith(".fifo")


@contextmanager
def _explained(doing: str) -> Iterator[None]:
    try:
        yield
    except (ClientError, BotoCoreError) as error:
        ended = fatal(error, doing)
        if ended is not None:
            raise ended from error
        raise


def _message(given: "MessageTypeDef") -> Message:
    attribute = given.get("MessageAttributes", {}).get("CorrelationId")
    return Message(
        id=given["MessageId"],
        body=given["Body"],
        receipt=given["ReceiptHandle"],
        deliveries=int(given.get("Attributes", {}).get("ApproximateReceiveCount", "1")),
        correlation_id=attribute.get("StringValue") if attribute else None,
    )
