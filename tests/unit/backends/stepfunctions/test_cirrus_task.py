"""What AWS can say to the answer of a task; moto gives only some of these."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from switchyard.backends.stepfunctions.model import CirrusTaskAction
from switchyard.backends.stepfunctions.task import CirrusTaskHandler
from switchyard.handlers import Failed, HandlerContext, Invalid, Outcome, Retry, Success, Work

LATE = Success({"note": "the task is over; an earlier attempt may have been heard"})


def said(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "no"}}, "SendTaskSuccess")


@pytest.mark.parametrize(
    ("error", "attempt", "outcome"),
    [
        (said("TaskTimedOut"), 1, Failed("nobody waits for this task any more (TaskTimedOut)")),
        (said("TaskDoesNotExist"), 1, Failed("nobody waits for this task any more (TaskDoesNotExist)")),
        (said("TaskDoesNotExist"), 2, LATE),
        (said("InvalidOutput"), 1, Invalid("Step Functions refuses the answer (InvalidOutput)")),
        (
            said("AccessDeniedException"),
            1,
            Failed("cannot answer a Step Functions task: no (AccessDeniedException)"),
        ),
        (
            said("ThrottlingException"),
            1,
            Retry("cannot answer a Step Functions task: no (ThrottlingException)"),
        ),
        (
            ReadTimeoutError(endpoint_url="x"),
            1,
            Retry("cannot answer a Step Functions task: no answer (ReadTimeoutError)"),
        ),
    ],
)
def test_what_comes_of_it(error: Exception, attempt: int, outcome: Outcome) -> None:
    handler = CirrusTaskHandler("task", CirrusTaskAction(), HandlerContext(None, None, {}))
    work = Work(uuid4(), 1, attempt, False, "task", None, None, None, {}, None, datetime.now(UTC))
    assert handler._outcome(error, work) == outcome
