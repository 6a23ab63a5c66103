"""`cirrus_task`: answers a Step Functions task that waits with a token."""

import json
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from switchyard.aws import client as aws
from switchyard.aws.errors import code_of, explained
from switchyard.backends.stepfunctions.model import CirrusTaskAction
from switchyard.backends.threads import Threads
from switchyard.config.expressions import compile_path
from switchyard.handlers import Failed, HandlerContext, Invalid, Outcome, Retry, Success, Work

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient

LONGEST_CAUSE = 32_768
# Over by its own time-out, or because an earlier attempt of ours was heard: nobody waits any more.
_OVER = {"TaskTimedOut", "TaskDoesNotExist"}


class CirrusTaskHandler:
    """Sends a waiting task its success, or its failure."""

    def __init__(self, name: str, action: CirrusTaskAction, _context: HandlerContext) -> None:
        self.name = name
        self._action = action
        self._threads = Threads(min(action.concurrency, 32))
        self._client: SFNClient | None = None

    async def start(self) -> None:
        """Make the client."""
        action = self._action
        self._client = await self._threads.run(
            aws.step_functions, action.endpoint, action.region, within=action.timeout
        )

    async def dispatch(self, work: Work, /) -> Outcome:
        """One request. A token is a secret of sorts: it appears in no outcome."""
        token = self._find(self._action.token, work)
        if not isinstance(token, str) or not token:
            return Invalid(f"the parameters have no task token at {self._action.token}")
        try:
            await self._threads.run(self._answer, token, work)
        except (ClientError, BotoCoreError) as error:
            return self._outcome(error, work)
        return Success()

    async def close(self) -> None:
        """Close the client's connections."""
        if self._client is not None:
            self._client.close()

    def _answer(self, token: str, work: Work) -> None:
        assert self._client is not None, "started before the first dispatch"
        error = self._find(self._action.error, work)
        if error:
            cause = error if isinstance(error, str) else json.dumps(error)
            self._client.send_task_failure(taskToken=token, error="Switchyard", cause=cause[:LONGEST_CAUSE])
        else:
            output = json.dumps(self._find(self._action.output, work))
            self._client.send_task_success(taskToken=token, output=output)

    def _find(self, path: str, work: Work) -> Any:
        match = compile_path(path).match(dict(work.parameters))
        return None if match is None else match.obj

    def _outcome(self, error: Exception, work: Work) -> Outcome:
        code = code_of(error)
        if code in _OVER and work.attempt > 1:
            return Success({"note": "the task is over; an earlier attempt may have been heard"})
        if code in _OVER:
            return Failed(f"nobody waits for this task any more ({code})")
        if code in {"InvalidToken", "InvalidOutput"}:
            return Invalid(f"Step Functions refuses the answer ({code})")
        meant = explained(error, "answer a Step Functions task")
        return Retry(str(meant)) if meant.transient else Failed(str(meant))
