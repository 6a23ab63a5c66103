"""One SQS queue. All calls block and raise boto3's errors; `errors.explained` translates them."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from switchyard.aws.errors import Meaning, meaning_of

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import MessageTypeDef

MOST = 10  # messages in one answer of SQS


@dataclass(frozen=True, slots=True)
class Message:
    """One delivery of one message."""

    id: str
    body: str
    receipt: str
    deliveries: int
    correlation_id: str | None
    received: float = field(default_factory=time.monotonic)


class Queue:
    """A queue, by name or URL; the URL of a name is looked up once."""

    def __init__(self, client: "SQSClient", name: str) -> None:
        self._client = client
        self.name = name.rsplit("/", 1)[-1]
        self.url = name if "://" in name else ""

    def find(self) -> str:
        """Its URL."""
        self.url = self.url or self._client.get_queue_url(QueueName=self.name)["QueueUrl"]
        return self.url

    def receive(self, wait: float, visibility: float | None = None, most: int = MOST) -> list[Message]:
        """Up to `most` messages; waits for the first, at most `wait` seconds."""
        hidden: dict[str, Any] = {} if visibility is None else {"VisibilityTimeout": int(visibility)}
        answer = self._client.receive_message(
            QueueUrl=self.find(),
            MaxNumberOfMessages=most,
            WaitTimeSeconds=int(wait),
            MessageSystemAttributeNames=["ApproximateReceiveCount"],
            MessageAttributeNames=["CorrelationId"],
            **hidden,
        )
        return [_message(given) for given in answer.get("Messages", [])]

    def delete(self, receipt: str) -> bool:
        """Acknowledge it; False where it went to another consumer meanwhile, and will come again."""
        url = self.find()
        return _held(lambda: self._client.delete_message(QueueUrl=url, ReceiptHandle=receipt))

    def hide(self, receipt: str, seconds: int) -> bool:
        """Hide it from other receivers for this many seconds; 0 returns it. False as for `delete`."""
        url = self.find()
        return _held(
            lambda: self._client.change_message_visibility(
                QueueUrl=url, ReceiptHandle=receipt, VisibilityTimeout=seconds
            )
        )

    def send(self, body: str, correlation_id: str | None, group: str, once: str) -> str:
        """The message's id. A FIFO queue orders by `group`, and takes `once` only once in five minutes."""
        request: dict[str, Any] = {"QueueUrl": self.find(), "MessageBody": body}
        if correlation_id:
            named = {"DataType": "String", "StringValue": correlation_id}
            request["MessageAttributes"] = {"CorrelationId": named}
        if self.name.endswith(".fifo"):
            request |= {"MessageGroupId": group, "MessageDeduplicationId": once}
        return self._client.send_message(**request)["MessageId"]


def _held(call: Callable[[], object]) -> bool:
    try:
        call()
    except ClientError as error:
        if meaning_of(error) is not Meaning.RECEIPT_EXPIRED:
            raise
        return False
    return True


def _message(given: "MessageTypeDef") -> Message:
    attribute = given.get("MessageAttributes", {}).get("CorrelationId")
    return Message(
        id=given["MessageId"],
        body=given["Body"],
        receipt=given["ReceiptHandle"],
        deliveries=int(given.get("Attributes", {}).get("ApproximateReceiveCount", "1")),
        correlation_id=attribute.get("StringValue") if attribute else None,
    )
