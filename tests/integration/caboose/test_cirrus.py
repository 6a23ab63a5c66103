"""Step Functions as a source: messages as AWS documents them, executions that moto runs for real."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from botocore.exceptions import ClientError

from switchyard.backends.stepfunctions.source import CirrusSource
from switchyard.errors import Transient
from switchyard.places import Places
from switchyard.sources import Observation
from tests.integration.caboose.observing import Observing
from tests.parts.aws import AwsPart
from tests.parts.database import Database

PASS = {"Type": "Pass", "Result": {"summary": {"n": 3}}, "End": True}
FAIL = {"Type": "Fail", "Error": "NoSites", "Cause": "there are no sites"}
WAIT = {"Type": "Wait", "Seconds": 300, "End": True}


class StepFunctions:
    """Machines, executions and events; and the ledger to look at."""

    def __init__(self, moto: AwsPart, database: Database, folder: Path) -> None:
        self.moto, self.database, self.folder = moto, database, folder
        self.queue = moto.queue()
        self.machines = {name: self._machine(state) for name, state in self._states().items()}
        self.observing = self._heard(queue=self.queue)

    @staticmethod
    def _states() -> dict[str, dict[str, Any]]:
        return {"good": PASS, "bad": FAIL, "slow": WAIT}

    def _machine(self, state: dict[str, Any]) -> str:
        created = self.moto.sfn().create_state_machine(
            name=f"m-{uuid4().hex}",
            definition=json.dumps({"StartAt": "S", "States": {"S": state}}),
            roleArn="arn:aws:iam::123456789012:role/test",
        )
        return created["stateMachineArn"]

    def _heard(self, **action: Any) -> Observing:
        run = {"type": "cirrus", "endpoint": self.moto.url, "region": "eu-west-2", "wait": "1s", **action}
        flows = {
            name: {"action": "run", "template": arn, "callbacks": [{"name": "done", "action": "hook"}]}
            for name, arn in self.machines.items()
        }
        config = {"actions": {"run": run, "hook": {"type": "noop"}}, "workflows": flows}
        return Observing(self.database, self.folder, config, grace=0.0, silent=0.0)

    def started(self, workflow: str) -> UUID:
        (row,) = self.database.execute("select switchyard.submit('run', '{}', workflow => %s)", workflow)
        uuid = UUID(str(row[0]))
        self.moto.sfn().start_execution(
            stateMachineArn=self.machines[workflow], name=str(uuid), input=json.dumps({"n": 1})
        )
        self.database.execute(
            "insert into switchyard.event (action_uuid, status, run, attempt) values (%s, 'QUEUED', 1, 1)",
            uuid,
        )
        return uuid

    def arn(self, workflow: str, uuid: UUID) -> str:
        return f"{self.machines[workflow].replace(':stateMachine:', ':execution:')}:{uuid}"

    def tell(self, workflow: str, uuid: UUID) -> None:
        """The event that EventBridge would put onto the queue."""
        event = {
            "source": "aws.states",
            "detail-type": "Step Functions Execution Status Change",
            "detail": {"executionArn": self.arn(workflow, uuid), "name": str(uuid), "status": "ANY"},
        }
        self.moto.sqs().send_message(QueueUrl=self.queue, MessageBody=json.dumps(event))

    def all_acknowledged(self) -> bool:
        """Nothing is on the queue, nor in anybody's hands."""
        attributes = self.moto.sqs().get_queue_attributes(
            QueueUrl=self.queue,
            AttributeNames=["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"],
        )
        return set(attributes["Attributes"].values()) == {"0"}

    def thread(self, uuid: UUID) -> tuple[Any, ...]:
        (row,) = self.database.execute(
            "select status::text, error from switchyard.thread where action_uuid = %s", uuid
        )
        return row

    def described(self, workflow: str, uuid: UUID) -> str:
        return self.moto.sfn().describe_execution(executionArn=self.arn(workflow, uuid))["status"]


@pytest.fixture
async def steps(
    moto: AwsPart, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[StepFunctions]:
    for name, value in moto.environ.items():
        monkeypatch.setenv(name, value)
    steps = StepFunctions(moto, database, tmp_path)
    await steps.observing.source.start()
    yield steps
    await steps.observing.close()


async def test_a_success_brings_its_output_and_its_callbacks(steps: StepFunctions) -> None:
    uuid = steps.started("good")
    steps.tell("good", uuid)
    await steps.observing.until(lambda: steps.thread(uuid)[0] == "SUCCESSFUL")
    archived = json.loads(steps.observing.store.get(Places(uuid, 1).workflow))
    assert archived["status"] == "SUCCEEDED"
    ((parameters,),) = steps.database.execute(
        "select parameters from switchyard.action where callback = 'done'"
    )
    assert parameters["summary"] == {"n": 3}


async def test_a_failure_brings_its_error_and_cause(steps: StepFunctions) -> None:
    uuid = steps.started("bad")
    steps.tell("bad", uuid)
    await steps.observing.until(lambda: steps.thread(uuid)[0] == "FAILED")
    assert steps.thread(uuid)[1] == "NoSites: there are no sites"


async def test_a_silent_execution_is_described(steps: StepFunctions) -> None:
    uuid = steps.started("good")
    await steps.observing.until(lambda: steps.described("good", uuid) == "SUCCEEDED")
    await steps.observing.until_ready()
    await steps.observing.reconcile.run_once()
    await steps.observing.until(lambda: steps.thread(uuid)[0] == "SUCCESSFUL")


async def test_an_execution_that_is_not_there_vanished(steps: StepFunctions) -> None:
    (row,) = steps.database.execute("select switchyard.submit('run', '{}', workflow => 'good')")
    uuid = UUID(str(row[0]))
    steps.database.execute(
        "insert into switchyard.event (action_uuid, status, run, attempt) values (%s, 'QUEUED', 1, 1)", uuid
    )
    await steps.observing.until_ready()
    await steps.observing.reconcile.run_once()
    await steps.observing.until(lambda: steps.thread(uuid)[0] == "FAILED")
    assert "vanished" in steps.thread(uuid)[1]


async def test_a_cancel_stops_the_execution(steps: StepFunctions) -> None:
    uuid = steps.started("slow")
    await steps.observing.until(lambda: steps.thread(uuid)[0] == "RUNNING")
    steps.database.execute("select switchyard.cancel(%s, 'ann', 'no more')", uuid)
    await steps.observing.due.run_once()
    assert steps.described("slow", uuid) == "ABORTED"
    steps.tell("slow", uuid)
    await steps.observing.until(steps.all_acknowledged)
    assert steps.thread(uuid)[0] == "CANCELED"


async def test_a_message_that_names_no_execution_goes_to_the_inbox(steps: StepFunctions) -> None:
    steps.moto.sqs().send_message(QueueUrl=steps.queue, MessageBody="no event")
    inbox = "select subject, error from switchyard.inbox where kind = 'message'"
    await steps.observing.until(lambda: bool(steps.database.execute(inbox)))
    [(subject, error)] = steps.database.execute(inbox)
    assert subject == steps.queue
    assert f"a message on {steps.queue} could not be used" in error


async def test_a_message_of_one_that_runs_still_is_acknowledged(steps: StepFunctions) -> None:
    uuid = steps.started("slow")
    steps.tell("slow", uuid)
    await steps.observing.until(steps.all_acknowledged)
    assert steps.thread(uuid)[0] == "RUNNING"
    steps.moto.sfn().stop_execution(executionArn=steps.arn("slow", uuid))


async def test_without_a_queue_the_running_ones_are_listed_page_by_page(
    steps: StepFunctions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """moto gives all at once unless it is asked for few."""
    source = steps._heard().source
    assert isinstance(source, CirrusSource)
    await source.start()
    uuids = {steps.started("slow") for _ in range(3)}
    whole = source._client.list_executions  # type: ignore[union-attr]
    monkeypatch.setattr(source._client, "list_executions", lambda **asked: whole(**asked, maxResults=2))
    monkeypatch.setattr("switchyard.backends.stepfunctions.source.LIST_EVERY", 0.01)
    seen = source.observations()
    listed = [await anext(seen) for _ in range(6)]
    assert {each.uuid for each in listed if isinstance(each, Observation)} == uuids, "and listed again"
    monkeypatch.undo()
    for uuid in uuids:
        steps.moto.sfn().stop_execution(executionArn=steps.arn("slow", uuid))
    assert await source.look(uuid4(), 1) is None
    await source.close()


async def test_a_backend_that_does_not_answer_is_asked_again(steps: StepFunctions) -> None:
    source = steps._heard(endpoint="http://127.0.0.1:1").source
    await source.start()
    with pytest.raises(Transient, match="cannot describe an execution"):
        await source.look(uuid4(), 1)
    await source.close()


async def test_an_execution_that_is_not_a_longer_awaited_is_stopped_when_it_turns_up(
    steps: StepFunctions,
) -> None:
    uuid = steps.started("slow")
    steps.database.execute(
        "insert into switchyard.event (action_uuid, status, run, attempt) values (%s, 'FAILED', 1, 1)", uuid
    )
    steps.database.execute("select switchyard.callbacks_made(%s, 1)", uuid)
    await steps.observing.until(lambda: steps.described("slow", uuid) == "ABORTED")


async def test_hole_12_a_state_machine_that_cannot_be_listed_stops_no_other(steps: StepFunctions) -> None:
    """It sorts before the others, is reported once, and the ends of the others are seen."""
    steps.machines["gone"] = "arn:aws:states:eu-west-2:123456789012:stateMachine:a-gone"
    observing = steps._heard(queue=steps.queue)
    await observing.source.start()
    uuid = steps.started("good")
    steps.tell("good", uuid)
    await observing.until(lambda: steps.thread(uuid)[0] == "SUCCESSFUL")
    inbox = "select error from switchyard.inbox where position('cirrus' in subject) = 1"
    await observing.until(lambda: bool(steps.database.execute(inbox)))
    [(error,)] = steps.database.execute(inbox)
    assert "stateMachine:a-gone cannot be processed and is set aside: ConfigError" in error
    assert await observing.source.ready()
    waiting = steps.started("slow")
    found = await observing.source.look(waiting, 1)
    assert found is not None, "looked for at every state machine"
    steps.moto.sfn().stop_execution(executionArn=steps.arn("slow", waiting))
    await observing.close()


async def test_hole_22_a_message_about_an_execution_that_may_not_be_described_stops_no_other(
    steps: StepFunctions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is left for later, and goes to the inbox once it came too often."""
    source = steps.observing.source
    assert isinstance(source, CirrusSource)
    foreign = uuid4()
    whole = source._client.describe_execution  # type: ignore[union-attr]

    def describe(executionArn: str) -> Any:  # noqa: N803 - as boto3 has it
        if str(foreign) in executionArn:
            raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "any")
        return whole(executionArn=executionArn)

    monkeypatch.setattr(source._client, "describe_execution", describe)
    steps.tell("good", foreign)
    uuid = steps.started("good")
    steps.tell("good", uuid)
    await steps.observing.until(lambda: steps.thread(uuid)[0] == "SUCCESSFUL")
    inbox = "select error from switchyard.inbox where kind = 'message'"
    assert steps.database.execute(inbox) == []
    monkeypatch.setattr("switchyard.backends.stepfunctions.source.GIVE_UP_AFTER", 0)
    steps.tell("good", foreign)
    await steps.observing.until(lambda: bool(steps.database.execute(inbox)))
    [(error,)] = steps.database.execute(inbox)
    assert "delivered 1 times: cannot describe an execution: no (AccessDeniedException)" in error
