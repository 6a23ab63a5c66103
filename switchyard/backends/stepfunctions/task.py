"""`cirrus_task`: answers a Step Functions task that waits with a token.

The operator writes the JSONPaths, but a submitter writes the parameters that they search: only paths of names
and indexes are evaluated in this process.
"""

import json
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from switchyard.aws.errors import code_of, explained
from switchyard.backends.stepfunctions.model import CirrusTaskAction
from switchyard.backends.stepfunctions.sfn_handler import SfnHandler
from switchyard.config.expressions import compile_path
from switchyard.errors import BadInput, PoolUnavailable
from switchyard.handlers import Failed, HandlerContext, Invalid, Outcome, Retry, Success, Work
from switchyard.process import evaluate
from switchyard.process.shared_pool import shared_pool

LONGEST_CAUSE = 32_768
# The task timed out, or received an earlier attempt of ours: nothing waits any more.
_OVER = {"TaskTimedOut", "TaskDoesNotExist"}


class CirrusTaskHandler(SfnHandler):
    """Sends success or failure to a waiting task."""

    def __init__(self, name: str, action: CirrusTaskAction, _context: HandlerContext) -> None:
        super().__init__(name, action)
        self._action = action

    async def dispatch(self, work: Work, /) -> Outcome:
        """Send one request. The token is confidential and appears in no outcome."""
        paths = [self._action.token, self._action.error, self._action.output]
        try:
            token, error, output = await _first(paths, dict(work.parameters), work.action_name)
        except BadInput as problem:
            return Invalid(f"the JSONPaths of {self.name} cannot be evaluated: {problem}")
        except PoolUnavailable as problem:
            return Retry(f"the JSONPaths of {self.name} could not be evaluated: {problem}", sent=False)
        if not isinstance(token, str) or not token:
            return Invalid(f"the parameters have no task token at {self._action.token}")
        try:
            await self._threads.run(self._answer, token, error, output)
        except (ClientError, BotoCoreError) as error:
            return self._outcome(error, work)
        return Success()

    def _answer(self, token: str, error: Any, output: Any) -> None:
        if error:
            cause = error if isinstance(error, str) else json.dumps(error)
            self._client.send_task_failure(taskToken=token, error="Switchyard", cause=cause[:LONGEST_CAUSE])
        else:
            self._client.send_task_success(taskToken=token, output=json.dumps(output))

    def _outcome(self, error: Exception, work: Work) -> Outcome:
        code = code_of(error)
        if code in _OVER and work.attempt > 1:
            return Success({"note": "the task is over; an earlier attempt may have been received"})
        if code in _OVER:
            return Failed(f"the execution no longer waits for this task ({code})")
        if code in {"InvalidToken", "InvalidOutput"}:
            return Invalid(f"Step Functions refuses the answer ({code})")
        meant = explained(error, "answer a Step Functions task")
        return Retry(str(meant)) if meant.transient else Failed(str(meant))


async def _first(paths: list[str], parameters: dict[str, Any], group: str) -> list[Any]:
    """The first value that each path finds, or None; BadInput if that exceeds a limit."""
    if all(compile_path(path).singular_query() for path in paths):
        matches = [compile_path(path).match(parameters) for path in paths]
        return [None if match is None else match.obj for match in matches]
    found = await shared_pool().run(evaluate.paths, paths, parameters, group=group)
    problems = [problem for _, _, problem in found if problem]
    if problems:
        raise BadInput(problems[0])
    return [values[0] if values else None for values, _, _ in found]
