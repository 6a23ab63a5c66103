"""An SQS queue, as sources read it: long polls, acknowledgements, errors in our words."""

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from switchyard.aws import client as aws
from switchyard.aws.polling import in_daemon_thread
from switchyard.errors import Transient

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import MessageTypeDef, ReceiveMessageResultTypeDef

MOST = 10  # what SQS gives at once


@dataclass(frozen=True, slots=True)
class Message:
    """One delivery of one message."""

    id: str
    body: str
    receipt: str
    deliveries: int
    correlation_id: str | None


class Queue:
    """One queue, by name or URL."""

    def __init__(self, client: "SQSClient", name: str) -> None:
        self._client = client
        self.name = name
        self._url = name if "://" in name else ""

    async def receive(self, wait: float, visibility: float | None = None) -> list[Message]:
        """Up to ten messages; waits for the first, but not longer than `wait`."""
        url = await self.find()
        hidden = {} if visibility is None else {"VisibilityTimeout": int(visibility)}
        call = partial(
            self._client.receive_message,
            QueueUrl=url,
            MaxNumberOfMessages=MOST,
            WaitTimeSeconds=int(wait),
            MessageSystemAttributeNames=["ApproximateReceiveCount"],
            MessageAttributeNames=["CorrelationId"],
            **hidden,  # type: ignore[arg-type]  # a keyword or none
        )
        try:
            return _messages(await in_daemon_thread(call))
        except (ClientError, BotoCoreError) as error:
            # Also where it is gone by now: one queue that is missing must not end the other sources.
            raise Transient(str(aws.explained(error, f"read the queue {self.name}"))) from error

    async def delete(self, receipt: str) -> None:
        """Acknowledge; a receipt that has expired does nothing, the message then comes again."""
        url = await self.find()
        try:
            await asyncio.to_thread(self._client.delete_message, QueueUrl=url, ReceiptHandle=receipt)
        except (ClientError, BotoCoreError) as error:
            if aws.code_of(error) not in {"ReceiptHandleIsInvalid", "InvalidParameterValue"}:
                raise aws.explained(error, f"acknowledge a message of {self.name}") from error

    async def find(self) -> str:
        """Its URL; a ConfigError where there is no such queue."""
        if not self._url:
            try:
                found = await asyncio.to_thread(self._client.get_queue_url, QueueName=self.name)
            except (ClientError, BotoCoreError) as error:
                raise aws.explained(error, f"find the queue {self.name}") from error
            self._url = found["QueueUrl"]
        return self._url


def _correlation_id(message: "MessageTypeDef") -> str | None:
    attribute = message.get("MessageAttributes", {}).get("CorrelationId")
    return attribute.get("StringValue") if attribute else None


def _messages(answer: "ReceiveMessageResultTypeDef") -> list[Message]:
    return [
        Message(
            id=message["MessageId"],
            body=message["Body"],
            receipt=message["ReceiptHandle"],
            deliveries=int(message.get("Attributes", {}).get("ApproximateReceiveCount", "1")),
            correlation_id=_correlation_id(message),
        )
        for message in answer.get("Messages", [])
    ]
