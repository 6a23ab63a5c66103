"""The status queue on a real SQS: ends, progress, beats, poison, cancel."""

import itertools
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from conductor.maintenance.lost_workers import LostWorkers
from conductor.maintenance.own_session import OwnSession
from conductor.metrics import ConductorMetrics
from switchyard.backends.queue_reader import QueueReader
from switchyard.config.daemons import Workers as Limits
from switchyard.errors import ConfigError, SwitchyardError, Transient
from switchyard.places import Places
from tests.integration.caboose.observing import Observing
from tests.parts.aws import REGION, AwsPart
from tests.parts.database import Database


class Workers:
    """The other side of the queue, and the ledger to look at."""

    def __init__(self, part: AwsPart, queue: str, database: Database, observing: Observing) -> None:
        self.part, self.queue, self.database, self.observing = part, queue, database, observing

    def queued(self) -> UUID:
        (row,) = self.database.execute("select switchyard.submit('run', '{}', workflow => 'flow')")
        self.database.execute(
            "insert into switchyard.event (action_uuid, status, run, attempt) values (%s, 'QUEUED', 1, 1)",
            row[0],
        )
        return UUID(str(row[0]))

    def say(self, uuid: UUID | None, status: str, **more: Any) -> None:
        about = {} if uuid is None else {"action_uuid": str(uuid), "run": 1}
        self.send(json.dumps({"version": 1, **about, "status": status, "worker": "w-1", **more}))

    def send(self, body: str) -> None:
        self.part.sqs().send_message(QueueUrl=self.queue, MessageBody=body)

    def status(self, uuid: UUID) -> str:
        ((status,),) = self.database.execute(
            "select status::text from switchyard.thread where action_uuid = %s", uuid
        )
        return str(status)

    def events(self, uuid: UUID) -> list[Any]:
        return self.database.execute(
            "select status::text, detail from switchyard.event where action_uuid = %s order by event_id", uuid
        )

    def left(self) -> int:
        answer = self.part.sqs().get_queue_attributes(
            QueueUrl=self.queue,
            AttributeNames=["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"],
        )
        return sum(int(number) for number in answer["Attributes"].values())

    def inbox(self) -> list[Any]:
        return self.database.execute(
            "select reason, detail from switchyard.journal where kind = 'message' and needs_review"
        )


@pytest.fixture
def notify() -> str | None:
    """The action that is notified of the ends of front ends' own jobs."""
    return None


@pytest.fixture
async def workers(
    elasticmq: AwsPart,
    database: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    notify: str | None,
) -> AsyncIterator[Workers]:
    for name, value in elasticmq.environ.items():
        monkeypatch.setenv(name, value)
    queue = elasticmq.queue()
    run = {"type": "sqs", "queue": "jobs", "status_queue": queue, "wait": "1s", "poison_after": 2}
    config = {
        "actions": {
            "run": {**run, "notify": notify},
            "hook": {"type": "noop"},
        },
        "workflows": {"flow": {"action": "run", "callbacks": [{"name": "done", "action": "hook"}]}},
    }
    observing = Observing(database, tmp_path, config)
    await observing.source.start()
    yield Workers(elasticmq, queue, database, observing)
    await observing.close()


async def test_a_job_from_running_over_progress_to_its_end(workers: Workers) -> None:
    uuid = workers.queued()
    workers.say(uuid, "RUNNING")
    await workers.observing.until(lambda: workers.status(uuid) == "RUNNING")
    workers.say(uuid, "INFO", progress=0.4, step="intersect", seq=1)
    workers.say(uuid, "BACKOFF", error="the store is away")
    await workers.observing.until(lambda: len(workers.events(uuid)) == 4)
    assert workers.status(uuid) == "RUNNING", "the queue delivers again: nothing for conductor to do"
    workers.observing.store.put(Places(uuid, 1).output, b'{"summary": {"n": 3}}')
    workers.say(uuid, "SUCCESSFUL", seq=3)
    await workers.observing.until(lambda: workers.status(uuid) == "SUCCESSFUL" and workers.left() == 0)
    progress = [detail for status, detail in workers.events(uuid) if status == "INFO"]
    assert any(detail.get("progress") == 0.4 and detail["step"] == "intersect" for detail in progress)
    assert b'"SUCCESSFUL"' in workers.observing.store.get(Places(uuid, 1).workflow)
    ((parameters,),) = workers.database.execute(
        "select parameters from switchyard.action where callback = 'done'"
    )
    assert parameters["summary"] == {"n": 3}


async def test_progress_comes_as_running_and_is_noted(workers: Workers) -> None:
    uuid = workers.queued()
    workers.say(uuid, "RUNNING", progress=0.0, step="started", seq=1)
    await workers.observing.until(lambda: workers.status(uuid) == "RUNNING" and workers.left() == 0)
    workers.say(uuid, "RUNNING", progress=0.6, step="intersect", seq=2)
    await workers.observing.until(lambda: workers.left() == 0)
    statuses = [(status, detail.get("progress")) for status, detail in workers.events(uuid)[1:]]
    assert statuses == [("RUNNING", 0.0), ("INFO", 0.6)]


def of_a_front_end(workers: Workers, job: str, *reports: dict[str, Any]) -> None:
    """What a worker says of a job that no action submitted."""
    for report in reports:
        workers.part.sqs().send_message(
            QueueUrl=workers.queue,
            MessageBody=json.dumps({"version": 1, "action_uuid": None, "run": None, "job": job, **report}),
            MessageAttributes={"CorrelationId": {"DataType": "String", "StringValue": f"front {job}"}},
        )


def notified(workers: Workers) -> list[Any]:
    return workers.database.execute(
        "select parameters ->> 'job', parameters ->> 'status', parameters ->> 'error', correlation_id"
        " from switchyard.action where action_name = 'hook' order by 1"
    )


@pytest.mark.parametrize("notify", ["hook"])
async def test_mission_a_front_ends_own_job_ends_in_one_notification(workers: Workers) -> None:
    """However often its end is reported, and in whatever words; progress is acknowledged, the inbox stays empty."""
    running: dict[str, Any] = {"status": "RUNNING"}
    of_a_front_end(
        workers, "m-1", running, running, {"status": "SUCCESSFUL", "output": "messages/m-1/output.json"}
    )
    of_a_front_end(workers, "m-2", {"status": "BACKOFF", "error": "the store is away"})
    await workers.observing.until(lambda: workers.left() == 0)
    assert notified(workers) == [("m-1", "SUCCESSFUL", None, "front m-1")]
    failed: dict[str, Any] = {"status": "FAILED", "fatal": True}
    of_a_front_end(workers, "m-2", {**failed, "error": "no sites"}, {**failed, "error": "no sites at all"})
    await workers.observing.until(lambda: workers.left() == 0)
    assert len(notified(workers)) == 2
    assert notified(workers)[1][:2] == ("m-2", "FAILED")
    assert workers.inbox() == []


async def test_without_an_action_to_notify_only_a_front_ends_failure_is_in_the_inbox(
    workers: Workers,
) -> None:
    of_a_front_end(workers, "m-1", {"status": "RUNNING"}, {"status": "SUCCESSFUL"})
    of_a_front_end(workers, "m-2", *[{"status": "FAILED", "error": "no sites", "fatal": True}] * 2)
    await workers.observing.until(lambda: workers.left() == 0)
    ((reason, detail),) = workers.inbox()
    assert "a job of a front end failed: no sites" in reason
    assert detail["correlation_id"] == "front m-2"
    assert notified(workers) == []


async def test_the_same_end_reported_twice_counts_once_and_leaves_no_message(workers: Workers) -> None:
    uuid = workers.queued()
    for _ in range(3):
        workers.say(uuid, "FAILED", error="no sites", fatal=True)
    await workers.observing.until(lambda: workers.status(uuid) == "FAILED" and workers.left() == 0)
    assert [status for status, _ in workers.events(uuid)] == ["QUEUED", "FAILED"]


@pytest.mark.parametrize(
    "body",
    [
        "no json at all",
        '{"version": 1, "status": "SUCCESSFUL"}',
        '{"version": 9}',
        '{"event": "beat"}',
        '{"version": 1, "action_uuid": "8a6e0804-2bd0-4672-b79d-d97027f9071a", "run": 1, "status": "FAILED"}',
    ],
)
async def test_a_poison_message_ends_in_the_inbox_with_its_text(workers: Workers, body: str) -> None:
    workers.send(body)
    await workers.observing.until(lambda: workers.left() == 0 and bool(workers.inbox()))
    ((reason, detail),) = workers.inbox()
    assert "could not be used" in reason
    assert detail["text"] == body


def deliver(workers: Workers, times: int) -> None:
    """As if a caboose had received it and died."""
    for _ in range(times):
        for message in workers.part.sqs().receive_message(QueueUrl=workers.queue, WaitTimeSeconds=2)[
            "Messages"
        ]:
            workers.part.sqs().change_message_visibility(
                QueueUrl=workers.queue, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=0
            )


async def test_an_end_that_the_ledger_refuses_again_and_again_ends_in_the_inbox(workers: Workers) -> None:
    uuid = workers.queued()
    workers.database.execute(
        "create function refuse() returns trigger language plpgsql as $$ begin raise 'not today'; end $$;"
        "create trigger refuse before insert on switchyard.event for each row"
        " when (new.status = 'SUCCESSFUL') execute function refuse()"
    )
    workers.say(uuid, "SUCCESSFUL")
    deliver(workers, 2)
    await workers.observing.until(lambda: workers.left() == 0 and bool(workers.inbox()))
    ((reason, detail),) = workers.inbox()
    assert "delivered 3 times" in reason
    assert str(uuid) in detail["text"]
    assert workers.status(uuid) == "QUEUED"


async def test_progress_that_the_ledger_refuses_again_and_again_ends_in_the_inbox(workers: Workers) -> None:
    uuid = workers.queued()
    workers.database.execute(
        "create function refuse() returns trigger language plpgsql as $$ begin raise 'not today'; end $$;"
        "create trigger refuse before insert on switchyard.event for each row"
        " when (new.status = 'INFO') execute function refuse()"
    )
    workers.say(uuid, "INFO", progress=0.5)
    deliver(workers, 2)
    await workers.observing.until(lambda: workers.left() == 0 and bool(workers.inbox()))
    assert [status for status, _ in workers.events(uuid)] == ["QUEUED"]


async def test_progress_that_came_often_because_caboose_died_is_recorded(workers: Workers) -> None:
    uuid = workers.queued()
    workers.say(uuid, "INFO", progress=0.5)
    deliver(workers, 2)
    await workers.observing.until(lambda: workers.left() == 0)
    assert [status for status, _ in workers.events(uuid)] == ["QUEUED", "INFO"]
    assert workers.inbox() == []


async def test_an_end_that_came_often_because_caboose_died_is_recorded(workers: Workers) -> None:
    uuid = workers.queued()
    workers.say(uuid, "SUCCESSFUL")
    deliver(workers, 5)
    await workers.observing.until(lambda: workers.status(uuid) == "SUCCESSFUL" and workers.left() == 0)
    assert workers.inbox() == []


async def test_the_end_of_an_action_that_is_gone_is_acknowledged(workers: Workers) -> None:
    workers.say(UUID("01890163-8694-739b-aea5-966c26f8ad91"), "SUCCESSFUL")
    await workers.observing.until(lambda: workers.left() == 0)
    assert workers.inbox() == []


async def test_workers_rows_follow_their_beats(workers: Workers) -> None:
    name = str(uuid4())
    beat = {"worker": name, "kind": "assessment", "done": 0, "failed": 0, "rate": 0.0}
    workers.send(json.dumps({**beat, "event": "started"}))
    await workers.observing.until(lambda: workers.left() == 0)
    workers.send(json.dumps({**beat, "event": "beat", "done": 5, "failed": 1, "rate": 0.5}))
    workers.send(json.dumps({"worker": "not-a-uuid", "event": "beat"}))
    await workers.observing.until(lambda: workers.left() == 0)
    rows = workers.database.execute(
        "select kind, state, done, failed, rate from switchyard.fleet order by done"
    )
    assert rows == [("assessment", "running", 0, 0, 0.0), ("assessment", "running", 5, 1, 0.5)]
    workers.send(json.dumps({**beat, "event": "ended", "done": 6, "failed": 1}))
    ended = "select done from switchyard.fleet where state = 'ended'"
    await workers.observing.until(lambda: workers.database.execute(ended) == [(6,)])


async def test_a_cancel_is_an_object_that_the_worker_reads(workers: Workers) -> None:
    uuid = workers.queued()
    workers.database.execute("select switchyard.cancel(%s, 'ann', 'no more')", uuid)
    await workers.observing.due.run_once()
    assert b"CANCELED" in workers.observing.store.get(Places(uuid, 1).cancel)
    assert workers.database.execute("select count(*) from switchyard.action where callback = 'done'") == [
        (1,)
    ]


async def test_a_status_queue_that_is_not_there_is_a_configuration_error(
    workers: Workers, database: Database, tmp_path: Path
) -> None:
    config = {"actions": {"run": {"type": "sqs", "queue": "jobs", "status_queue": "no-such-queue"}}}
    observing = Observing(database, tmp_path, config)
    with pytest.raises(ConfigError, match="no-such-queue"):
        await observing.source.start()


async def test_a_deleted_queue_is_looked_up_again_and_its_receipts_are_reported(
    workers: Workers,
) -> None:
    queue = QueueReader(workers.queue, workers.part.url, REGION)
    await queue.start()
    await queue.acknowledge("no such receipt")
    gone = QueueReader(f"{workers.queue}-gone", workers.part.url, REGION)
    await gone.start()
    with pytest.raises(Transient, match="cannot read the queue"):
        await gone.receive(0)
    with pytest.raises(SwitchyardError, match="cannot acknowledge a message of"):
        await gone.acknowledge("receipt")
    source = workers.observing.source
    assert source.answers_for(uuid4(), {})
    assert (source.present(uuid4(), 1), await source.look(uuid4(), 1)) == (None, None)


async def test_mission_b4_losses_of_sqs_workers_count_for_their_action_name(
    workers: Workers, database: Database
) -> None:
    """Three of four fall silent while a caboose could have reported them: conductor pauses what they work for."""
    names = [str(uuid4()) for _ in range(4)]
    about = {"kind": "assessment", "done": 0, "failed": 0, "rate": 0.0}

    async def say(event: str, *these: str) -> None:
        for name in these:
            workers.send(json.dumps({**about, "worker": name, "event": event}))
        await workers.observing.until(lambda: workers.left() == 0)

    await say("started", *names)
    database.execute("insert into switchyard.worker (kind, host) values ('caboose', 'here')")
    own, ticks = OwnSession(database.url), itertools.count()
    limits = Limits.model_validate({"beat": "100ms", "lost_after": "500ms", "min_lost": 3})
    marker = LostWorkers(own, limits, ConductorMetrics().maintenance, clock=lambda: next(ticks) / 5)
    for _ in range(6):
        await say("beat", names[0])
        database.execute("update switchyard.worker set beat_at = clock_timestamp() where kind = 'caboose'")
        await marker.run_once()
    await own.close()
    assert database.execute("select action_name, reason from switchyard.paused") == [
        ("run", "3 of 4 workers were lost")
    ]
    lost = database.execute("select worker_id::text, kind from switchyard.worker where lost_at is not null")
    assert sorted(lost) == sorted((name, "assessment") for name in names[1:])
