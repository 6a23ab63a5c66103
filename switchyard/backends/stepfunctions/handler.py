"""`cirrus`: starts an execution of an AWS Step Functions state machine.

The execution's name is ours and Step Functions keeps names for 90 days: a start whose answer was lost is
found again by the same name, and one that is there already and has our name is ours.
"""

import json
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from switchyard.aws.errors import code_of, explained
from switchyard.backends.prepare import PreparedWorkflow, prepare
from switchyard.backends.stepfunctions.model import CirrusAction
from switchyard.backends.stepfunctions.sfn_handler import SfnHandler
from switchyard.errors import BadInput, SwitchyardError
from switchyard.handlers import Failed, HandedOver, HandlerContext, Invalid, Outcome, Retry, Work

LARGEST_INPUT = 262_144
# A redriven execution keeps its name, by which the runs of an action are told apart.
FROM_START = {"note": "runs from the start: executions of Step Functions are not redriven"}


class CirrusHandler(SfnHandler):
    """Starts executions."""

    def __init__(self, name: str, action: CirrusAction, context: HandlerContext) -> None:
        super().__init__(name, action)
        self._action = action
        self._context = context

    async def dispatch(self, work: Work, /) -> Outcome:
        """Start the execution; status-change messages, or a describe, are the rest of the story."""
        prepared = await prepare(work, self._context, self._threads)
        if not isinstance(prepared, PreparedWorkflow):
            return prepared
        machine = prepared.workflow.template or self._action.default_template
        if not isinstance(machine, str):
            return Invalid(f"the workflow {work.workflow!r} has no state machine")
        try:
            arn = await self._threads.run(self._start, machine, work, _input(work, prepared))
        except (ClientError, BotoCoreError) as error:
            if code_of(error) != "ExecutionAlreadyExists":
                return _outcome(explained(error, f"start an execution of {machine}"))
            arn = execution_arn(machine, work.name)
        return HandedOver({"execution": arn, **(FROM_START if work.resumes else {})})

    def _start(self, machine: str, work: Work, given: str) -> str:
        started = self._client.start_execution(stateMachineArn=machine, name=work.name, input=given)
        return started["executionArn"]


def execution_arn(machine: str, name: str) -> str:
    """What AWS calls the execution of that name."""
    return f"{machine.replace(':stateMachine:', ':execution:', 1)}:{name}"


def _input(work: Work, prepared: PreparedWorkflow) -> str:
    """`{"switchyard": {…}, "input": …}`; an input too large for AWS is null, and found by its URL."""
    variables: dict[str, Any] = {name.replace("-", "_"): value for name, value in prepared.variables.items()}
    variables["run"] = work.run
    whole = json.dumps({"switchyard": variables, "input": dict(prepared.parameters)})
    if len(whole.encode()) <= LARGEST_INPUT:
        return whole
    return json.dumps({"switchyard": variables, "input": None})


def _outcome(error: SwitchyardError) -> Outcome:
    if error.transient:
        return Retry(str(error))
    return Invalid(str(error)) if isinstance(error, BadInput) else Failed(str(error))
