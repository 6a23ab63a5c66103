"""Redrives by the requests that AWS documents: moto has no redrive, so botocore checks the requests and we answer."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from botocore.stub import Stubber

from caboose.complete.archive import Archive
from caboose.metrics import CabooseMetrics
from switchyard.aws import client as aws
from switchyard.backends.stepfunctions.handler import CirrusHandler
from switchyard.backends.stepfunctions.model import CirrusAction
from switchyard.backends.stepfunctions.source import CirrusSource
from switchyard.handlers import HandedOver, HandlerContext, Retry, Work
from switchyard.places import Places
from switchyard.process.shared_pool import shared_pool
from switchyard.sources import Observation
from switchyard.status import Status
from tests.integration.conductor.workflows import context, work

MACHINE = "arn:aws:states:eu-west-2:123456789012:stateMachine:m"
ARN = "arn:aws:states:eu-west-2:123456789012:execution:m:"
WHEN = "2026-11-19T03:00:00Z"


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stubber]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "none")
    client = aws.step_functions(None, "eu-west-2")
    with Stubber(client) as stubber:
        yield stubber
        stubber.assert_no_pending_responses()


def described(
    name: str, status: str = "FAILED", count: int = 0, redrivable: str = "REDRIVABLE"
) -> dict[str, Any]:
    return {
        "executionArn": ARN + name, "stateMachineArn": MACHINE, "name": name, "status": status, "startDate": WHEN,
        "redriveCount": count, "redriveStatus": redrivable,
    }  # fmt: skip


def is_described(stub: Stubber, name: str, **more: Any) -> None:
    stub.add_response("describe_execution", described(name, **more), {"executionArn": ARN + name})


def is_missing(stub: Stubber, name: str) -> None:
    stub.add_client_error(
        "describe_execution", "ExecutionDoesNotExist", expected_params={"executionArn": ARN + name}
    )


def surroundings(tmp_path: Path) -> HandlerContext:
    actions = {"run": {"type": "cirrus", "region": "eu-west-2"}}
    return context(tmp_path, actions, {"flow": {"action": "run", "template": MACHINE}})


async def dispatched(stub: Stubber, tmp_path: Path, job: Work) -> Any:
    made = surroundings(tmp_path)
    action = made.config.actions["run"]
    assert isinstance(action, CirrusAction)
    handler = CirrusHandler("run", action, made)
    handler._client = stub.client  # type: ignore[assignment]
    return await handler.dispatch(job)


def second(**more: Any) -> Work:
    return replace(work("flow"), run=2, resumes=True, **more)


async def test_a_retriggered_run_redrives_the_execution_of_the_run_before(
    stub: Stubber, tmp_path: Path
) -> None:
    job = second()
    is_missing(stub, job.name)
    is_described(stub, str(job.uuid))
    expected = {"executionArn": f"{ARN}{job.uuid}", "clientToken": job.name}
    stub.add_response("redrive_execution", {"redriveDate": WHEN}, expected)
    outcome = await dispatched(stub, tmp_path, job)
    assert isinstance(outcome, HandedOver)
    assert outcome.detail["execution"] == f"{ARN}{job.uuid}"
    assert outcome.detail["resumed"] == {"run": 1}


async def test_a_redrive_whose_answer_was_lost_is_not_repeated(stub: Stubber, tmp_path: Path) -> None:
    job = second(attempt=2)
    is_missing(stub, job.name)
    is_described(stub, str(job.uuid), status="RUNNING", count=1, redrivable="NOT_REDRIVABLE")
    outcome = await dispatched(stub, tmp_path, job)
    assert isinstance(outcome, HandedOver)
    assert outcome.detail["execution"] == f"{ARN}{job.uuid}"


@pytest.mark.parametrize("code", ["ExecutionNotRedrivable", "AccessDeniedException"])
async def test_a_redrive_that_is_refused_starts_a_new_execution(
    stub: Stubber, tmp_path: Path, code: str
) -> None:
    job = second()
    is_missing(stub, job.name)
    is_described(stub, str(job.uuid))
    stub.add_client_error("redrive_execution", code)
    stub.add_response("start_execution", {"executionArn": ARN + job.name, "startDate": WHEN})
    outcome = await dispatched(stub, tmp_path, job)
    assert isinstance(outcome, HandedOver)
    assert outcome.detail["execution"] == ARN + job.name
    assert outcome.detail["note"] == f"runs from the start: the execution cannot be redriven ({code})"


async def test_a_redrive_that_is_throttled_is_tried_again(stub: Stubber, tmp_path: Path) -> None:
    job = second()
    is_missing(stub, job.name)
    is_described(stub, str(job.uuid))
    stub.add_client_error("redrive_execution", "ThrottlingException")
    assert isinstance(await dispatched(stub, tmp_path, job), Retry)


def source(stub: Stubber) -> CirrusSource:
    made = CirrusSource(CirrusAction(type="cirrus", region="eu-west-2"), [MACHINE])
    made._client = stub.client  # type: ignore[assignment]
    return made


async def test_a_redriven_execution_is_looked_for_by_its_earlier_name(stub: Stubber) -> None:
    job = work("flow")
    for _ in range(2):
        is_missing(stub, f"{job.uuid}-r3")
        is_missing(stub, f"{job.uuid}-r2")
        is_described(stub, str(job.uuid), status="RUNNING", count=2)
    stub.add_response(
        "stop_execution",
        {"stopDate": WHEN},
        {"executionArn": f"{ARN}{job.uuid}", "error": "Switchyard", "cause": "why"},
    )
    found = await source(stub).look(job.uuid, 3)
    assert found is not None
    assert (found.run, found.status, found.written_in) == (3, Status.RUNNING, 1)
    await source(stub).stop_execution(job.uuid, 3, "why")


async def test_a_run_before_the_redrive_is_neither_found_nor_stopped(stub: Stubber) -> None:
    job = work("flow")
    for _ in range(2):
        is_described(stub, str(job.uuid), status="RUNNING", count=1)
    assert await source(stub).look(job.uuid, 1) is None
    await source(stub).stop_execution(job.uuid, 1, "why")


async def test_a_list_of_what_runs_names_the_later_run(stub: Stubber) -> None:
    job = work("flow")
    listed = {"executionArn": f"{ARN}{job.uuid}", "stateMachineArn": MACHINE, "name": str(job.uuid),
              "status": "RUNNING", "startDate": WHEN, "redriveCount": 1}  # fmt: skip
    stub.add_response(
        "list_executions", {"executions": [listed]}, {"stateMachineArn": MACHINE, "statusFilter": "RUNNING"}
    )
    assert await source(stub)._running(MACHINE) == [Observation(job.uuid, 2, Status.RUNNING)]


def test_the_files_of_a_redriven_execution_are_those_of_the_later_run(tmp_path: Path) -> None:
    """Its input is that of its first start, and so is the folder that it writes to."""
    made, job = surroundings(tmp_path), work("flow")
    first, third = Places(job.uuid, 1), Places(job.uuid, 3)
    made.store.put(first.output, b'{"n": 7}')
    made.store.put(first.workflow, b"the first end")
    archive = Archive(made.store, made.config, CabooseMetrics(), shared_pool())
    seen = Observation(job.uuid, 3, Status.SUCCESSFUL, record=b"the third end", written_in=1)
    for _ in range(2):
        archive._write(seen, None)
    assert made.store.get(third.output) == b'{"n": 7}'
    assert made.store.get(third.workflow) == b"the third end"
