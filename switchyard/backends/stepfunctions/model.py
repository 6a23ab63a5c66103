"""`cirrus`: executions of AWS Step Functions."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from switchyard.aws.model import AwsAction
from switchyard.config.names import Endpoint, QueueName, StateMachineArn
from switchyard.config.units import Interval


class CirrusAction(AwsAction):
    """Workflows that Step Functions runs."""

    runs_workflows: ClassVar[bool] = True
    takes_callbacks: ClassVar[bool] = False
    template_of: ClassVar[str | None] = "state machine"
    template_form: ClassVar[Any] = StateMachineArn

    type: Literal["cirrus"] = "cirrus"
    state_machine: StateMachineArn | None = None
    """The state machine of workflows that give no `template`."""
    queue: QueueName | None = None
    """The queue that status-change events arrive on; without it, describe alone tells."""
    queue_endpoint: Endpoint | None = None
    """Where that queue's service is, if not at `endpoint` or AWS."""
    wait: Annotated[Interval, Field(le=20)] = 20.0
    """How long one look at the queue waits for events."""
    describe_after: Interval = 300.0
    """An execution that was silent for so long is asked for its state."""

    @property
    def default_template(self) -> str | None:
        return self.state_machine
