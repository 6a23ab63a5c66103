"""What AWS can say to the answer of a task; moto gives only some of these."""

import asyncio
import time
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from switchyard.backends.stepfunctions.model import CirrusTaskAction
from switchyard.backends.stepfunctions.task import CirrusTaskHandler
from switchyard.handlers import Failed, HandlerContext, Invalid, Outcome, Retry, Success, Work

LATE = Success({"note": "the task is over; an earlier attempt may have been received"})


def said(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "no"}}, "SendTaskSuccess")


@pytest.mark.parametrize(
    ("error", "attempt", "outcome"),
    [
        (said("TaskTimedOut"), 1, Failed("the execution no longer waits for this task (TaskTimedOut)")),
        (
            said("TaskDoesNotExist"),
            1,
            Failed("the execution no longer waits for this task (TaskDoesNotExist)"),
        ),
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


class Answers(CirrusTaskHandler):
    """Notes what it would send."""

    def __init__(self, **action: str) -> None:
        super().__init__("task", CirrusTaskAction.model_validate(action), HandlerContext(None, None, {}))
        self.sent: list[tuple[str, Any, Any]] = []

    def _answer(self, token: str, error: Any, output: Any) -> None:
        self.sent.append((token, error, output))


def asked(parameters: dict[str, Any]) -> Work:
    return Work(uuid4(), 1, 1, False, "task", None, None, None, parameters, None, datetime.now(UTC))


@pytest.mark.parametrize("token", ["$.token", "$..token", "$.list[?@.token].token"])
async def test_the_first_value_of_each_path_is_sent(token: str) -> None:
    handler = Answers(token=token, output="$.results[*].n")
    parameters = {"token": "t-1", "list": [{"token": "t-1"}], "results": [{"n": 1}, {"n": 2}]}
    assert await handler.dispatch(asked(parameters)) == Success()
    assert handler.sent == [("t-1", None, 1)]


async def test_a_path_that_takes_for_ever_fails_its_own_action_off_the_event_loop() -> None:
    handler = Answers(token="$.token", output="$.n[?match(@, '(a|aa)+b')]")
    began = time.monotonic()
    ticks = asyncio.create_task(_ticks())
    outcome = await handler.dispatch(asked({"token": "t-1", "n": ["a" * 90]}))
    ticks.cancel()
    elapsed = time.monotonic() - began
    assert isinstance(outcome, Invalid)
    assert "exceeded its limit of CPU time" in outcome.error
    assert handler.sent == []
    assert await ticks > elapsed, "the event loop ran all the time: more than one turn per second"


async def _ticks() -> int:
    """How often the event loop came round until it is cancelled."""
    turns = 0
    try:
        while True:
            await asyncio.sleep(0.05)
            turns += 1
    except asyncio.CancelledError:
        return turns
