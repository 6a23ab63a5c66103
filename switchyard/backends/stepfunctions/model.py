"""`cirrus`: executions of AWS Step Functions. `cirrus_task`: answers a task that waits with a token."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from switchyard.aws.model import AwsAction
from switchyard.config.expressions import JsonPath
from switchyard.config.names import Endpoint, QueueName, StateMachineArn
from switchyard.config.units import Interval


class CirrusAction(AwsAction):
    """Workflows that Step Functions runs."""

    runs_workflows: ClassVar[bool] = True
    takes_callbacks: ClassVar[bool] = False
    instead_of_at_most_once: ClassVar[str] = "its name makes it run once; leave delivery out"
    template_of: ClassVar[str | None] = "state machine"
    template_form: ClassVar[Any] = StateMachineArn

    type: Literal["cirrus"] = "cirrus"
    state_machine: StateMachineArn | None = None
    """The state machine of workflows without a `template`."""
    queue: QueueName | None = None
    """The queue that receives status-change events; without it, executions are polled."""
    queue_endpoint: Endpoint | None = None
    """The endpoint of that queue's service, if it is neither `endpoint` nor AWS."""
    wait: Annotated[Interval, Field(le=20)] = 20.0
    """How long one poll of the queue waits for events."""
    describe_after: Interval = 300.0
    """An execution without an event for this long is queried for its state."""

    @property
    def default_template(self) -> str | None:
        return self.state_machine


class CirrusTaskAction(AwsAction):
    """Sends success or failure to a waiting task. The paths apply to the callback's parameters."""

    type: Literal["cirrus_task"] = "cirrus_task"
    token: JsonPath = "$.token"  # noqa: S105 - a path, not a token
    """The path of the task token."""
    output: JsonPath = "$.output"
    """The output that is sent to the waiting task."""
    error: JsonPath = "$.error"
    """If this path finds a text, the task is failed with that error instead."""
