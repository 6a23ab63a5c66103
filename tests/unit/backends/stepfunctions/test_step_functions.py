"""What AWS says of an execution, in our words."""

import json
from typing import Any
from uuid import UUID

import pytest

from switchyard.backends.stepfunctions.observe import UnreadableEvent, named_in, observe
from switchyard.status import Status

U = UUID("0190163d-8694-739b-aea5-966c26f8ad91")
ARN = f"arn:aws:states:eu-west-2:123456789012:execution:nutrient:{U}-r2"
# The event as AWS documents it: EventBridge, "Step Functions Execution Status Change".
EVENT: dict[str, Any] = {
    "version": "0",
    "id": "315c1398-40ff-a850-213b-158f73e60175",
    "detail-type": "Step Functions Execution Status Change",
    "source": "aws.states",
    "account": "123456789012",
    "time": "2019-02-26T19:42:21Z",
    "region": "eu-west-2",
    "resources": [ARN],
    "detail": {
        "executionArn": ARN,
        "stateMachineArn": "arn:aws:states:eu-west-2:123456789012:stateMachine:nutrient",
        "name": f"{U}-r2",
        "status": "FAILED",
        "startDate": 1551225146847,
        "stopDate": 1551225151881,
        "input": "{}",
        "output": None,
    },
}


def test_the_event_names_the_execution() -> None:
    assert named_in(json.dumps(EVENT)) == (U, 2, ARN)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        "{}",
        '{"detail": []}',
        '{"detail": {"executionArn": 3}}',
        json.dumps({"detail": {"executionArn": ARN + "\n"}}),
        json.dumps(
            {"detail": {"executionArn": "arn:aws:states:eu-west-2:123456789012:execution:m:someone-elses"}}
        ),
    ],
)
def test_what_names_no_execution_of_ours_is_unreadable(body: str) -> None:
    with pytest.raises(UnreadableEvent):
        named_in(body)


@pytest.mark.parametrize(
    ("status", "ours"),
    [
        ("RUNNING", Status.RUNNING),
        ("SUCCEEDED", Status.SUCCESSFUL),
        ("FAILED", Status.FAILED),
        ("TIMED_OUT", Status.TIMED_OUT),
        ("ABORTED", Status.CANCELED),
        ("PENDING_REDRIVE", Status.RUNNING),
        ("SOMETHING_NEW", Status.RUNNING),
    ],
)
def test_statuses(status: str, ours: Status) -> None:
    assert observe(U, 1, {"status": status}).status is ours


def test_a_failed_container_gives_its_exit_code() -> None:
    cause = json.dumps({"Containers": [{"ExitCode": 65, "Name": "main"}], "StoppedReason": "Essential"})
    seen = observe(U, 1, {"status": "FAILED", "error": "States.TaskFailed", "cause": cause})
    assert (seen.exit_code, seen.fatal) == (65, True)
    assert seen.error is not None
    assert seen.error.startswith("States.TaskFailed: ")


@pytest.mark.parametrize(
    ("output", "ours"), [('{"n": 1}', {"n": 1}), ("[1]", None), ("{", None), (None, None)]
)
def test_an_output_counts_where_it_is_an_object(output: str | None, ours: Any) -> None:
    assert observe(U, 1, {"status": "SUCCEEDED", "output": output}).output == ours
