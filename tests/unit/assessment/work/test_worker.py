"""The worker around queues in memory: what it does where something fails at the worst moment."""

import json
import logging
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError

from assessment.work import job as jobs
from assessment.work import keeper as keepers
from assessment.work.attempts import Attempts
from assessment.work.context import Context
from assessment.work.errors import FatalQueueError
from assessment.work.estimate import FIRST
from assessment.work.job import Job
from assessment.work.keeper import Held
from assessment.work.outcome import Done, Failed, HandedBack, Outcome, Refused, Skipped
from assessment.work.state import ERROR, STOPPED
from assessment.work.status import JobReport
from assessment.work.worker import Worker
from switchyard.aws.queue import Message
from switchyard.process.exit import Exit
from switchyard.store import Store, open_store
from tests.unit.assessment.work.post import Post, worker

NO_ANSWER = EndpointConnectionError(endpoint_url="http://127.0.0.1:1")
DENIED = FatalQueueError("not allowed", Exit.FAILURE)
MISSING = FatalQueueError("there is no such queue", Exit.CONFIG, missing=True)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path.as_uri())


@pytest.fixture
def unwritable(tmp_path: Path) -> Store:
    """Nothing can be stored of a message's job: there is a file where its folder would be."""
    (tmp_path / "messages").write_bytes(b"")
    return open_store(tmp_path.as_uri())


@pytest.fixture
def logged() -> Iterator[list[str]]:
    """The events of log lines, as they come."""
    events: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: events.append(_event(record))  # type: ignore[method-assign]
    logging.getLogger("assessment").addHandler(handler)
    yield events
    logging.getLogger("assessment").removeHandler(handler)


@pytest.fixture
def errors() -> Iterator[list[tuple[int, object]]]:
    """The levels and reasons of the logged outcomes of jobs."""
    found: list[tuple[int, object]] = []
    handler = logging.Handler()

    def emit(record: logging.LogRecord) -> None:
        if isinstance(record.msg, dict) and record.msg["event"] == "outcome":
            found.append((record.levelno, record.msg["why"]))

    handler.emit = emit  # type: ignore[method-assign]
    logger = logging.getLogger("assessment")
    before = logger.level
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    yield found
    logger.removeHandler(handler)
    logger.setLevel(before)


def _event(record: logging.LogRecord) -> str:
    return str(record.msg["event"] if isinstance(record.msg, dict) else record.msg)


def message(**job: Any) -> Message:
    return Message("m-1", json.dumps(job), "receipt", 1, "c-1", received=time.monotonic())


def told(status: Post | None) -> list[str]:
    """What was said: of jobs their status, of the worker its events."""
    bodies = [json.loads(call[1]) for call in (status.calls if status else []) if call[0] == "send"]
    return [body.get("status") or body["event"] for body in bodies]


def settled(made: Worker, outcome: Outcome, **job: Any) -> Job:
    given = message(**job)
    parsed = jobs.parse(given, made.pipeline.store)
    made.pipeline.settler.settle(given, parsed, outcome, JobReport(made.reporter, parsed))
    return parsed


# settling


def test_what_nobody_wants_is_deleted_silently(store: Store) -> None:
    queue, status = Post(), Post()
    made = worker(store, queue, status)
    settled(made, Skipped("cancelled"))
    assert queue.calls == [("delete", "m-1")]
    assert (told(status), made.state.skipped) == ([], 1)


@pytest.mark.parametrize("name", ["end.json", "cancel"])
def test_a_delivery_too_many_is_not_worked_on(store: Store, name: str) -> None:
    def never(_job: Job, _context: Context) -> Outcome:
        raise AssertionError

    store.put(f"messages/m-1/{name}", b"")
    queue, status = Post(message()), Post()
    made = worker(store, queue, status, never)
    made._once()
    assert queue.calls == [("receive",), ("delete", "m-1")]
    assert (told(status), made.state.skipped) == ([], 1)
    assert Attempts(store, "messages/m-1").count().attempts == 0


def test_a_job_that_goes_on_elsewhere_is_sent_there_before_its_end_is_reported(store: Store) -> None:
    queue, status, following = Post(), Post(), Post()
    made = worker(store, queue, status)
    opened: list[str] = []

    def open_queue(name: str) -> Post:
        assert told(status) == []
        opened.append(name)
        return following

    workload = replace(made.pipeline.workload, hand_over=lambda *_: "next")
    made.pipeline.settler = replace(made.pipeline.settler, workload=workload, open_queue=open_queue)  # type: ignore[arg-type]
    settled(made, Done("output.json"), site=1)
    assert opened == ["next"]
    assert following.calls == [("send", '{"site": 1}')]
    assert (told(status), queue.calls) == (["SUCCESSFUL"], [("delete", "m-1")])


def test_an_end_that_cannot_be_noted_was_reported_and_is_over(unwritable: Store, logged: list[str]) -> None:
    queue, status = Post(), Post()
    made = worker(unwritable, queue, status)
    settled(made, Done("output.json"))
    assert told(status) == ["SUCCESSFUL"]
    assert queue.calls == [("delete", "m-1")]
    assert made.state.done == 1
    assert "the end was reported but could not be noted" in logged


def test_where_attempts_cannot_be_read_the_job_is_tried_again(store: Store, logged: list[str]) -> None:
    store.put("messages/m-1/attempts.json", bytes(5000))
    queue, status = Post(), Post()
    made = worker(store, queue, status)
    settled(made, Failed("the weather"))
    settled(made, HandedBack("the worker stops"))
    assert told(status) == ["BACKOFF", "BACKOFF"]
    assert queue.calls == [("hide", "m-1", 120), ("hide", "m-1", 0)]
    assert (made.state.retried, made.state.handed_back) == (1, 1)
    assert "the attempt could not be taken back" in logged


def test_handed_back_with_nothing_saved_it_ends_after_its_attempts(store: Store) -> None:
    queue, status = Post(), Post()
    made = worker(store, queue, status)
    attempts = Attempts(store, "messages/m-1")
    for _ in range(3):
        attempts.begin()
        settled(made, HandedBack("its time here is over", counts=True))
    assert attempts.count().attempts == 3
    assert told(status) == ["BACKOFF", "BACKOFF", "FAILED"]
    assert queue.calls == [("hide", "m-1", 120), ("hide", "m-1", 120), ("delete", "m-1")]
    end = json.loads(store.get("messages/m-1/end.json"))
    assert end["error"] == "its time here is over (after 3 attempts; needs review)"


LAST = "the weather (after 3 attempts; needs review)"


@pytest.mark.parametrize(
    ("outcome", "begun", "level", "why"),
    [
        (Refused("no sites"), 1, logging.ERROR, "no sites"),
        (Failed("the weather"), 3, logging.ERROR, LAST),
        (HandedBack("the weather", counts=True), 3, logging.ERROR, LAST),
        (Failed("the bundle is damaged", counts=False), 1, logging.ERROR, "the bundle is damaged"),
        (Failed("the weather"), 1, logging.INFO, "the weather"),
        (HandedBack("the worker stops"), 1, logging.INFO, "the worker stops"),
        (Done("output.json"), 1, logging.INFO, "output.json"),
    ],
)
def test_mission_a_fatal_failure_is_logged_as_an_error(
    store: Store,
    errors: list[tuple[int, object]],
    outcome: Outcome,
    begun: int,
    level: int,
    why: str,
) -> None:
    """Once; a failure that is tried again is logged as information, unless it is the operator's to repair."""
    attempts = Attempts(store, "messages/m-1")
    for _ in range(begun):
        attempts.begin()
    settled(worker(store, Post(), Post()), outcome)
    assert errors == [(level, why)]


# one delivery


def test_a_job_that_is_expected_to_be_short_is_not_timed(store: Store) -> None:
    timed = []

    def quick(_job: Job, context: Context) -> Outcome:
        timed.append(context.state.task_start > 0)
        return Done()

    made = worker(
        store, Post(message(), message(action_uuid="019a0000-0000-7000-8000-000000000001")), Post(), quick
    )
    made._once()
    made._once()
    assert timed == [True, False], "nothing is known of the first; the second is like it"


def test_a_job_that_went_on_where_another_was_teaches_nothing(store: Store) -> None:
    def resumed(_job: Job, context: Context) -> Outcome:
        assert context.chunks().load("0.json") == b"{}"
        return Done()

    store.put("messages/m-1/checkpoint/0.json", b"{}")
    made = worker(store, Post(message()), Post(), resumed)
    made._once()
    assert made.state.done == 1
    assert made.pipeline.estimates.of("job", 1.0) == FIRST


def test_an_error_of_the_queue_that_stays_is_not_an_outcome_of_the_job(store: Store) -> None:
    queue = Post(message())
    made = worker(store, queue, Post(send=DENIED))
    with pytest.raises(FatalQueueError, match="not allowed"):
        made._once()
    assert queue.calls == [("receive",)], "it comes again after its visibility"


def test_a_status_queue_that_does_not_answer_holds_up_no_job(store: Store, logged: list[str]) -> None:
    queue = Post(message())
    made = worker(store, queue, Post(send=NO_ANSWER))
    with pytest.raises(EndpointConnectionError):
        made._once()
    assert logged.count("a status message could not be sent") == 1, "the start may get lost, the end may not"
    assert ("delete", "m-1") not in queue.calls


def test_a_mistake_of_ours_is_not_taken_for_the_weather(store: Store) -> None:
    made = worker(store, Post(), Post(send=KeyError("once")))
    with pytest.raises(KeyError):
        made.reporter.of_itself("beat", made.state)


def test_without_a_status_queue_nothing_is_reported(store: Store) -> None:
    queue = Post(message())
    made = worker(store, queue, None)
    made._once()
    assert queue.calls == [("receive",), ("delete", "m-1")]
    assert store.size("messages/m-1/end.json")


def test_a_late_worker_leaves_the_message_to_its_keeper(store: Store) -> None:
    queue, status = Post(message()), Post()

    def overtaken(_job: Job, _context: Context) -> Outcome:
        assert made.keeper.take() is not None
        made.keeper.stop()
        return Done()

    made = worker(store, queue, status, overtaken)
    made.keeper.start()
    made._once()
    assert queue.calls == [("receive",)]
    assert told(status) == ["RUNNING"]


def test_a_cancel_ends_a_running_job_between_two_steps(store: Store) -> None:
    now = 1000.0

    def steps(job: Job, context: Context) -> Outcome:
        nonlocal now
        context.clock = lambda: now
        store.put(f"{job.home}/cancel", b"")
        context._looked = now
        context.progress(0.1, "too soon to look again")
        now += 2.0
        context.progress(0.2, "never reported")
        raise AssertionError

    queue, status = Post(message()), Post()
    made = worker(store, queue, status, steps)
    made._once()
    assert queue.calls == [("receive",), ("delete", "m-1")]
    assert made.state.skipped == 1
    assert "SUCCESSFUL" not in told(status)


# beside the work


def held(made: Worker, received: float = 0.0) -> None:
    given = Message("m-1", "{}", "receipt", 1, None, received)
    parsed = jobs.parse(given, made.pipeline.store)
    made.keeper.hold(Held(given, parsed, JobReport(made.reporter, parsed)))


def test_the_message_at_hand_is_extended_and_that_of_a_job_that_hangs_is_not(
    store: Store, logged: list[str]
) -> None:
    queue = Post()
    made = worker(store, queue, Post())
    held(made)
    for now in (19.0, 20.0, 39.0, 40.0):
        made.keeper.look(now)
    assert queue.calls == [("hide", "m-1", 60)] * 2, "at a third of the visibility"
    made.keeper._hanging = lambda: ["heartbeat_stale"]
    for now in (60.0, 80.0):
        made.keeper.look(now)
    made.keeper._hanging = list
    made.keeper.look(100.0)
    assert len(queue.calls) == 2, "it may be another worker's by now"
    assert logged.count("the job hangs; its message will go to another worker") == 1


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (DENIED, "the current message cannot be extended any more"),
        (NO_ANSWER, "the current message could not be extended"),
        (KeyError("surprise"), "unexpected error beside the work"),
    ],
)
def test_an_error_beside_the_work_is_logged_and_tried_again(
    store: Store, logged: list[str], error: Exception, words: str
) -> None:
    queue = Post(hide=error)
    made = worker(store, queue, Post())
    held(made)
    made.keeper.look(20.0)
    made.keeper.look(20.5)
    made.keeper.look(21.0)
    assert len(queue.calls) == 2, "after a second"
    assert logged.count(words) == 2


# the loop


def test_nothing_is_reported_after_the_end(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A beat that came later would make a worker that is gone look alive."""
    monkeypatch.setattr(keepers, "BEAT", 0.0)
    monkeypatch.setattr(keepers, "TICK", 0.0)
    status = Post()
    made = worker(store, Post(message()), status)
    assert made.run() is Exit.OK
    assert made.state.status == STOPPED
    assert not made.keeper._thread.is_alive()
    said = [event for event in told(status) if event != "beat"]
    assert said == ["started", "RUNNING", "SUCCESSFUL", "ended"]
    assert told(status)[-1] == "ended"


def test_a_message_that_comes_with_the_stop_is_given_back(store: Store) -> None:
    queue, status = Post(message()), Post()
    made = worker(store, queue, status)
    made.stop.ask()
    made._once()
    assert queue.calls == [("receive",), ("hide", "m-1", 0)]
    assert told(status) == []


def test_after_a_surprise_the_loop_goes_on(store: Store, logged: list[str]) -> None:
    queue = Post(message(), receive=KeyError("surprise"))
    made = worker(store, queue, Post())
    steps = iter((made._once, queue.failing.clear, made._once))

    def step() -> None:
        next(steps)()

    assert made._until_done(step)
    assert made._until_done(step)
    assert logged.count("unexpected error; waiting") == 1
    assert made.state.done == 1


@pytest.mark.parametrize("named", [False, True])
def test_a_status_queue_that_is_missing(store: Store, logged: list[str], named: bool) -> None:
    made = worker(store, Post(), Post(find=MISSING))
    if named:
        made.settings = replace(made.settings, status_named=True)
        with pytest.raises(FatalQueueError):
            made._open()
        return
    made._open()
    made._open()
    assert made.reporter.queue is None
    assert logged.count("no status messages are sent: set SQS_STATUS_QUEUE_NAME") == 1


def test_a_fatal_error_ends_the_worker_with_its_code_and_a_message(store: Store, logged: list[str]) -> None:
    status = Post()
    made = worker(store, Post(receive=DENIED), status)
    assert made.run() is Exit.FAILURE
    assert made.state.status == ERROR
    assert told(status) == ["started", "ended"]
    status = Post(send=DENIED)
    made = worker(store, Post(), status)
    assert made.run() is Exit.FAILURE, "what cannot be reported is logged"
    assert logged.count("the end of the worker could not be reported") == 1
    assert worker(store, Post(find=MISSING), None).run() is Exit.CONFIG


@pytest.mark.parametrize("failing", [{}, {"hide": NO_ANSWER}])
def test_a_job_that_comes_to_no_step_is_given_back_and_the_process_ends(
    store: Store, logged: list[str], monkeypatch: pytest.MonkeyPatch, failing: dict[str, Exception]
) -> None:
    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", ended.append)
    queue, status = Post(**failing), Post()
    made = worker(store, queue, status)
    Attempts(store, "messages/m-1").begin()
    held(made, time.monotonic())
    made.keeper.look(time.monotonic())
    assert ended == [], "nobody asked it to stop"
    made.stop.grace = 3.0
    made.stop.ask()
    made.keeper.look(time.monotonic())
    assert ended == [0]
    assert queue.calls == [("hide", "m-1", 0)]
    assert Attempts(store, "messages/m-1").count().attempts == 0
    assert told(status) == (["beat", "BACKOFF"] if failing else ["beat", "BACKOFF", "ended"])
    lost = "the message could not be returned; it will be redelivered after its visibility timeout"
    assert logged.count(lost) == len(failing)
    made.keeper.look(time.monotonic())
    assert ended == [0], "between jobs the loop ends by itself"
