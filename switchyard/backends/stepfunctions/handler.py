"""`cirrus`: starts an execution of an AWS Step Functions state machine.

We choose the execution's name, and Step Functions reserves names for 90 days: if the response to a start was
lost, the execution is found by its name, and an existing execution with that name is ours. A retriggered run
redrives the execution of the previous run if possible.
"""

import json
from collections.abc import Mapping
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from switchyard.aws.errors import MEANINGS, Meaning, code_of, explained
from switchyard.backends.prepare import PreparedWorkflow, prepare
from switchyard.backends.stepfunctions.model import CirrusAction
from switchyard.backends.stepfunctions.redrive import NotRedriven, execution_arn, to_redrive
from switchyard.backends.stepfunctions.sfn_handler import SfnHandler
from switchyard.errors import BadInput, SwitchyardError
from switchyard.handlers import Failed, HandedOver, HandlerContext, Invalid, Outcome, Retry, Work

LARGEST_INPUT = 262_144
# Errors of a redrive after which the run starts from the beginning, e.g. the execution is too old.
_NOT_REDRIVABLE = {"ExecutionNotRedrivable", "ExecutionDoesNotExist", "ValidationException"}


class CirrusHandler(SfnHandler):
    """Starts and redrives executions."""

    def __init__(self, name: str, action: CirrusAction, context: HandlerContext) -> None:
        super().__init__(name, action)
        self._action = action
        self._context = context

    async def dispatch(self, work: Work, /) -> Outcome:
        """Start the execution; its progress comes from status-change messages, or from a describe."""
        prepared = await prepare(work, self._context, self._threads)
        if not isinstance(prepared, PreparedWorkflow):
            return prepared
        machine = prepared.workflow.template or self._action.default_template
        if not isinstance(machine, str):
            return Invalid(f"the workflow {work.workflow!r} has no state machine")
        note: dict[str, Any] = {}
        try:
            if work.resumes:
                arn, note = await self._threads.run(self._redrive, machine, work)
                if arn:
                    return HandedOver({"execution": arn, **note})
            arn = await self._threads.run(self._start, machine, work, _input(work, prepared))
        except (ClientError, BotoCoreError) as error:
            if code_of(error) != "ExecutionAlreadyExists":
                return _outcome(explained(error, f"start an execution of {machine}"))
            arn = execution_arn(machine, work.name)
        return HandedOver({"execution": arn, **note})

    def _redrive(self, machine: str, work: Work) -> tuple[str, dict[str, Any]]:
        """The execution to continue and the hand-over's detail, or no ARN and the reason to start over."""
        try:
            arn, redriven = to_redrive(self._describe, machine, work.uuid, work.run)
            if not redriven:
                self._client.redrive_execution(executionArn=arn, clientToken=work.name)
        except NotRedriven as reason:
            return "", {"note": f"runs from the start: {reason}"}
        except ClientError as error:
            code = code_of(error)
            if code not in _NOT_REDRIVABLE and MEANINGS.get(code) is not Meaning.DENIED:
                raise
            return "", {"note": f"runs from the start: the execution cannot be redriven ({code})"}
        if arn == execution_arn(machine, work.name):
            return arn, {"note": "runs from the start"}  # decided by an earlier attempt
        return arn, {
            "resumed": {"run": work.run - 1},
            "note": f"continues run {work.run - 1}: its execution was redriven",
        }

    def _describe(self, arn: str) -> Mapping[str, Any] | None:
        try:
            return self._client.describe_execution(executionArn=arn)
        except ClientError as error:
            if code_of(error) == "ExecutionDoesNotExist":
                return None
            raise

    def _start(self, machine: str, work: Work, given: str) -> str:
        started = self._client.start_execution(stateMachineArn=machine, name=work.name, input=given)
        return started["executionArn"]


def _input(work: Work, prepared: PreparedWorkflow) -> str:
    """`{"switchyard": {…}, "input": …}`; an input too large for AWS is null and available by its URL."""
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
