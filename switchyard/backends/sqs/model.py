"""`sqs`: jobs on a work queue; workers report on a status queue."""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from switchyard.aws.model import AwsAction
from switchyard.config.names import QueueName
from switchyard.config.units import Interval, Size


class SqsAction(AwsAction):
    """Jobs that workers take from a queue."""

    runs_workflows: ClassVar[bool] = True
    takes_callbacks: ClassVar[bool] = False
    instead_of_at_most_once: ClassVar[str] = (
        "a queue delivers at least once, and a send whose answer was lost is repeated; leave delivery out"
    )
    template_of: ClassVar[str | None] = "queue"
    template_form: ClassVar[Any] = QueueName

    type: Literal["sqs"] = "sqs"
    queue: QueueName | None = None
    """The work queue of workflows without a `template`."""
    status_queue: QueueName
    """The queue that workers report to and caboose reads."""
    max_body: Annotated[Size, Field(ge=1024, le=256 * 1024)] = 240 * 1024
    """The largest message; a larger body goes to the store and is sent by reference."""
    wait: Annotated[Interval, Field(le=20)] = 20.0
    """How long one poll of the status queue waits for messages."""
    visibility: Annotated[Interval, Field(ge=1, le=43200)] = 60.0
    """How long a status message is hidden while caboose records it."""
    poison_after: Annotated[int, Field(ge=1, le=1000)] = 5
    """After this many receipts a status message goes to the inbox; an end only if the ledger refuses it."""

    notify: str | None = None
    """The action to submit when a job ends that no action submitted, such as an `http` action with a webhook
    for the jobs of a front end. Its parameters are job, status, error, output and correlation_id."""

    def submits(self) -> Iterator[tuple[str, str]]:
        """The action of `notify`."""
        if self.notify is not None:
            yield "notify", self.notify

    @property
    def default_template(self) -> str | None:
        return self.queue
