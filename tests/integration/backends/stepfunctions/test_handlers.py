"""Step Functions, run for real by moto: start, found again, task tokens."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from switchyard.backends.stepfunctions.handler import CirrusHandler
from switchyard.backends.stepfunctions.model import CirrusAction, CirrusTaskAction
from switchyard.backends.stepfunctions.redrive import execution_arn
from switchyard.backends.stepfunctions.task import CirrusTaskHandler
from switchyard.handlers import Failed, HandedOver, HandlerContext, Invalid, Outcome, Retry, Success
from tests.integration.conductor.workflows import context, work
from tests.parts.aws import AwsPart
from tests.waiting import until

PASS = {"StartAt": "P", "States": {"P": {"Type": "Pass", "End": True}}}


@pytest.fixture
def aws(moto: AwsPart, monkeypatch: pytest.MonkeyPatch) -> AwsPart:
    for name, value in moto.environ.items():
        monkeypatch.setenv(name, value)
    return moto


def machine(aws: AwsPart, definition: dict[str, Any]) -> str:
    created = aws.sfn().create_state_machine(
        name=f"m-{uuid4().hex}",
        definition=json.dumps(definition),
        roleArn="arn:aws:iam::123456789012:role/test",
    )
    return created["stateMachineArn"]


def surroundings(aws: AwsPart, tmp_path: Path, arn: str, **action: Any) -> HandlerContext:
    actions = {"run": {"type": "cirrus", "endpoint": aws.url, "region": "eu-west-2", **action}}
    return context(tmp_path, actions, {"flow": {"action": "run", "template": arn}})


async def dispatched(made: HandlerContext, *works: Any) -> list[Outcome]:
    action = made.config.actions["run"]
    assert isinstance(action, CirrusAction)
    handler = CirrusHandler("run", action, made)
    await handler.start()
    try:
        return [await handler.dispatch(each) for each in works]
    finally:
        await handler.close()


async def test_an_execution_has_our_name_and_our_input(aws: AwsPart, tmp_path: Path) -> None:
    arn = machine(aws, PASS)
    job = work("flow", {"n": 1}, run=2)
    (outcome,) = await dispatched(surroundings(aws, tmp_path, arn), job)
    assert isinstance(outcome, HandedOver)
    assert outcome.detail["execution"] == execution_arn(arn, job.name)
    described = aws.sfn().describe_execution(executionArn=execution_arn(arn, job.name))
    given = json.loads(described["input"])
    assert given["input"] == {"n": 1}
    assert given["switchyard"]["action_uuid"] == str(job.uuid)
    assert given["switchyard"]["run"] == 2
    assert given["switchyard"]["output"].endswith(f"executions/{job.uuid}/r2")


async def test_a_run_that_cannot_continue_is_reported(aws: AwsPart, tmp_path: Path) -> None:
    arn = machine(aws, PASS)
    job = replace(work("flow", run=2), resumes=True)
    (outcome,) = await dispatched(surroundings(aws, tmp_path, arn), job)
    assert isinstance(outcome, HandedOver)
    assert outcome.detail["note"] == "runs from the start: no earlier execution is there"


async def test_without_a_redrive_a_new_execution_starts(aws: AwsPart, tmp_path: Path) -> None:
    """moto does not redrive, and says so like AWS of an execution that is too old: by its redriveStatus."""
    arn = machine(aws, {"StartAt": "F", "States": {"F": {"Type": "Fail", "Error": "E", "Cause": "c"}}})
    first = work("flow")
    again = replace(first, run=2, resumes=True)
    outcomes = await dispatched(surroundings(aws, tmp_path, arn), first, again, again)
    assert all(isinstance(outcome, HandedOver) for outcome in outcomes)
    listed = aws.sfn().list_executions(stateMachineArn=arn)["executions"]
    assert {each["name"] for each in listed} == {first.name, again.name}
    notes = [outcome.detail.get("note") for outcome in outcomes if isinstance(outcome, HandedOver)]
    assert notes == [None, "runs from the start: the execution cannot be redriven", "runs from the start"]


async def test_every_attempt_of_a_run_is_one_execution(aws: AwsPart, tmp_path: Path) -> None:
    arn = machine(aws, PASS)
    job = work("flow")
    outcomes = await dispatched(surroundings(aws, tmp_path, arn), job, job, job)
    assert all(isinstance(outcome, HandedOver) for outcome in outcomes)
    listed = aws.sfn().list_executions(stateMachineArn=arn)["executions"]
    assert [each["name"] for each in listed] == [job.name]


async def test_an_input_too_large_for_aws_is_found_by_its_url(aws: AwsPart, tmp_path: Path) -> None:
    arn = machine(aws, PASS)
    made = surroundings(aws, tmp_path, arn)
    job = work("flow", {"text": "x" * 300_000})
    assert isinstance((await dispatched(made, job))[0], HandedOver)
    described = aws.sfn().describe_execution(executionArn=execution_arn(arn, job.name))
    given = json.loads(described["input"])
    assert given["input"] is None
    assert json.loads(made.store.get(f"executions/{job.uuid}/r1/input.json")) == {"text": "x" * 300_000}


async def test_what_the_configuration_does_not_have_is_invalid(aws: AwsPart, tmp_path: Path) -> None:
    outcomes = await dispatched(surroundings(aws, tmp_path, machine(aws, PASS)), work("nobody"))
    assert outcomes == [Invalid("the configuration has no workflow 'nobody'")]


async def test_a_machine_that_is_not_there_fails_and_silence_is_tried_again(
    aws: AwsPart, tmp_path: Path
) -> None:
    arn = machine(aws, PASS).rsplit(":", 1)[0] + ":nobody"
    (missing,) = await dispatched(surroundings(aws, tmp_path, arn), work("flow"))
    assert isinstance(missing, Failed)
    assert "nobody" in missing.error
    (silent,) = await dispatched(
        surroundings(aws, tmp_path, arn, endpoint="http://127.0.0.1:1"), work("flow")
    )
    assert isinstance(silent, Retry)


async def answered(
    aws: AwsPart, tmp_path: Path, parameters: dict[str, Any], endpoint: str | None = None
) -> Outcome:
    made = context(
        tmp_path,
        {"task": {"type": "cirrus_task", "endpoint": endpoint or aws.url, "region": "eu-west-2"}},
        {},
    )
    action = made.config.actions["task"]
    assert isinstance(action, CirrusTaskAction)
    handler = CirrusTaskHandler("task", action, made)
    await handler.start()
    try:
        return await handler.dispatch(work(None, parameters))
    finally:
        await handler.close()


async def test_a_task_without_a_token_is_invalid(aws: AwsPart, tmp_path: Path) -> None:
    outcome = await answered(aws, tmp_path, {"output": {}})
    assert isinstance(outcome, Invalid)
    assert "$.token" in outcome.error


async def test_a_invalid_token_is_invalid_and_silence_is_tried_again(aws: AwsPart, tmp_path: Path) -> None:
    task = {"token": "nobody", "output": {}}
    assert await answered(aws, tmp_path, task) == Invalid("Step Functions refuses the answer (InvalidToken)")
    silent = await answered(aws, tmp_path, task, endpoint="http://127.0.0.1:1")
    assert isinstance(silent, Retry)
    assert "Could not connect" in silent.error


WAIT = {
    "StartAt": "W",
    "States": {
        "W": {
            "Type": "Task",
            "Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken",
            "Parameters": {"QueueUrl": "", "MessageBody": {"token.$": "$$.Task.Token"}},
            "End": True,
        }
    },
}


def waiting(aws: AwsPart) -> tuple[str, str]:
    """An execution that waits for its task: its ARN and the token."""
    queue = aws.queue()
    wait = json.loads(json.dumps(WAIT))
    wait["States"]["W"]["Parameters"]["QueueUrl"] = queue
    started = aws.sfn().start_execution(stateMachineArn=machine(aws, wait), input="{}")
    received = until(lambda: aws.sqs().receive_message(QueueUrl=queue).get("Messages"))
    return started["executionArn"], json.loads(received[0]["Body"])["token"]


async def test_a_waiting_task_gets_its_output(aws: AwsPart, tmp_path: Path) -> None:
    arn, token = waiting(aws)
    outcome = await answered(aws, tmp_path, {"token": token, "output": {"n": 7}})
    assert isinstance(outcome, Success)
    until(lambda: aws.sfn().describe_execution(executionArn=arn)["status"] == "SUCCEEDED")
    assert json.loads(aws.sfn().describe_execution(executionArn=arn)["output"]) == {"n": 7}


async def test_a_waiting_task_is_failed_with_the_error(aws: AwsPart, tmp_path: Path) -> None:
    arn, token = waiting(aws)
    assert isinstance(await answered(aws, tmp_path, {"token": token, "error": "no sites"}), Success)
    until(lambda: aws.sfn().describe_execution(executionArn=arn)["status"] == "FAILED")
