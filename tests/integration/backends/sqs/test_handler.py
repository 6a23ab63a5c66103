"""The sqs handler on a real queue."""

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from switchyard.backends.sqs.handler import SqsHandler
from switchyard.backends.sqs.model import SqsAction
from switchyard.handlers import Failed, HandedOver, HandlerContext, Invalid, Outcome, Retry
from tests.integration.conductor.workflows import context, work
from tests.parts.aws import AwsPart


@pytest.fixture
def environment(elasticmq: AwsPart, monkeypatch: pytest.MonkeyPatch) -> AwsPart:
    for name, value in elasticmq.environ.items():
        monkeypatch.setenv(name, value)
    return elasticmq


def surroundings(tmp_path: Path, queue: str, **action: Any) -> HandlerContext:
    actions = {"run": {"type": "sqs", "queue": queue, "status_queue": "status", **action}}
    workflows: dict[str, Any] = {"nutrient": {"action": "run", "timeout": "30m"}, "other": {"action": "run"}}
    return context(tmp_path, actions, workflows)


async def dispatched(made: HandlerContext, job: Any) -> Outcome:
    action = made.config.actions["run"]
    assert isinstance(action, SqsAction)
    handler = SqsHandler("run", action, made)
    await handler.start()
    try:
        return await handler.dispatch(job)
    finally:
        await handler.close()


def received(part: AwsPart, queue: str) -> Any:
    answer = part.sqs().receive_message(QueueUrl=queue, MessageAttributeNames=["All"], WaitTimeSeconds=5)
    (message,) = answer["Messages"]
    return message


async def test_the_job_is_the_message_of_the_interface(environment: AwsPart, tmp_path: Path) -> None:
    queue = environment.queue()
    geojson = {"type": "FeatureCollection", "features": []}
    parameters = {"assessment": "nutrient", "edition": "C", "mode": "default", "bundle": "b1", "extra": 1}
    job = work("nutrient", {**parameters, "input": {"geojson": geojson}}, run=2)
    outcome = await dispatched(surroundings(tmp_path, queue), job)
    assert isinstance(outcome, HandedOver)
    message = received(environment, queue)
    assert message["MessageId"] == outcome.detail["message_id"]
    assert message["MessageAttributes"]["CorrelationId"]["StringValue"] == "c-1"
    assert json.loads(message["Body"]) == {
        "version": 1,
        "action_uuid": str(job.uuid),
        "run": 2,
        "workflow": "nutrient",
        "assessment": "nutrient",
        "edition": "C",
        "mode": "default",
        "bundle": "b1",
        "input": {"geojson": geojson},
        "output": f"{(tmp_path / 'store').as_uri()}/executions/{job.uuid}/r2",
        "timeout_s": 1800.0,
    }


async def test_a_queue_may_be_named(environment: AwsPart, tmp_path: Path) -> None:
    queue = environment.queue()
    made = surroundings(tmp_path, queue.rsplit("/", 1)[1])
    assert isinstance(await dispatched(made, work("other", {"a": 1})), HandedOver)
    body = json.loads(received(environment, queue)["Body"])
    assert body["input"] == {"key": f"executions/{body['action_uuid']}/r1/input.json"}


async def test_a_fifo_queue_takes_a_run_once_and_holds_up_no_other(
    environment: AwsPart, tmp_path: Path
) -> None:
    sqs = environment.sqs()
    queue = sqs.create_queue(QueueName=f"q-{uuid4().hex}.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]
    made, job = surroundings(tmp_path, queue), work("other")
    for each in (job, job, work("other")):
        assert isinstance(await dispatched(made, each), HandedOver)
    bodies = [json.loads(received(environment, queue)["Body"]) for _ in range(2)]
    assert len({body["action_uuid"] for body in bodies}) == 2
    assert not sqs.receive_message(QueueUrl=queue).get("Messages")


async def test_what_cannot_be_prepared_is_not_sent(environment: AwsPart, tmp_path: Path) -> None:
    made = surroundings(tmp_path, "jobs")
    unknown = await dispatched(made, work("nobody"))
    assert unknown == Invalid("the configuration has no workflow 'nobody'")
    (tmp_path / "store").write_text("a file where the store's folder should be")
    full = await dispatched(made, work("other"))
    assert isinstance(full, Failed | Retry)
    assert "the input could not be stored" in full.error


async def test_a_body_over_the_limit_goes_to_the_store(environment: AwsPart, tmp_path: Path) -> None:
    queue = environment.queue()
    geojson = {"type": "FeatureCollection", "features": [{"x": "y" * 300_000}]}
    made = surroundings(tmp_path, queue)
    job = work("nutrient", {"assessment": "nutrient", "input": {"geojson": geojson}})
    assert isinstance(await dispatched(made, job), HandedOver)
    body = json.loads(received(environment, queue)["Body"])
    key = body["input"]["key"]
    assert key == f"executions/{job.uuid}/r1/input.geojson"
    assert json.loads(made.store.get(key)) == geojson


async def test_a_queue_that_is_not_there_fails_and_one_that_is_silent_is_tried_again(
    environment: AwsPart, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = await dispatched(surroundings(tmp_path, "no-such-queue"), work("other"))
    assert isinstance(missing, Failed)
    assert "no-such-queue" in missing.error
    nobody = surroundings(tmp_path, "jobs", endpoint="http://127.0.0.1:1")
    assert isinstance(await dispatched(nobody, work("other")), Retry)
