"""The worker's policies one by one, with a clock of our own."""

import json
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, NoCredentialsError
from botocore.stub import Stubber
from hypothesis import given
from hypothesis import strategies as st

from assessment.work import job as jobs
from assessment.work import settings
from assessment.work.attempts import Attempts, Count, used_up
from assessment.work.context import Context
from assessment.work.deadline import Deadline, Stop
from assessment.work.errors import FatalQueueError, fatal, transient
from assessment.work.estimate import FIRST, Estimates
from assessment.work.outcome import Done, Failed, HandedBack, Refused, StopWork
from assessment.work.policy import failed
from assessment.work.queue import WorkQueue
from assessment.work.state import State
from assessment.work.status import JobReport, Reporter
from switchyard.aws import client as aws
from switchyard.aws.errors import Meaning, meaning_of
from switchyard.aws.queue import Message
from switchyard.backends.sqs.status_message import Report, WorkerReport, read
from switchyard.errors import BadInput, ConfigError, StoreError, StoreUnavailable, Transient
from switchyard.store import Store, open_store

STORE = {"SWITCHYARD_STORE": "file:///srv/store"}


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Heard:
    """A status queue that stores what it receives."""

    def __init__(self) -> None:
        self.sent: list[tuple[dict[str, Any], str]] = []

    def send(self, body: str, _correlation_id: str | None, _group: str, once: str) -> None:
        self.sent.append((json.loads(body), once))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path.as_uri())


def message(body: object = None, deliveries: int = 1) -> Message:
    text = body if isinstance(body, str) else json.dumps(body or {})
    return Message("m-1", text, "receipt", deliveries, "c-1", received=1000.0)


def test_the_environment_of_the_seeds() -> None:
    plain = settings.read(STORE)
    assert (plain.queue, plain.region, plain.wait) == ("nrf_impact_assessment_queue", "eu-west-2", 20)
    assert (plain.health_port, plain.heartbeat_timeout, plain.task_buffer) == (8085, 120.0, 1.5)
    assert (plain.max_attempts, plain.redelivery_delay, plain.grace) == (3, 120, 30.0)
    assert settings.read({**STORE, "HEALTH_PORT": "1", "PORT": "2"}).health_port == 2
    assert settings.read({**STORE, "HEALTH_PORT": "1", "PORT": ""}).health_port == 1
    assert settings.read({**STORE, "SQS_STATUS_QUEUE_NAME": ""}).status_queue is None


def test_everything_wrong_is_reported_together() -> None:
    wrong = {
        "SQS_WAIT_TIME_SECONDS": "21",
        "TASK_TIMEOUT_BUFFER": "nan",
        "MAX_ATTEMPTS": "2.5",
        "SQS_ENDPOINT": "localhost",
    }
    with pytest.raises(ConfigError) as told:
        settings.read(wrong)
    assert all(name in str(told.value) for name in (*wrong, "SWITCHYARD_STORE"))
    assert told.value.exit_code == 78


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [
        ("QueueDoesNotExist", 78),
        ("AWS.SimpleQueueService.NonExistentQueue", 78),
        ("InvalidAccessKeyId", 78),
        ("InvalidClientTokenId", 78),
        ("SignatureDoesNotMatch", 78),
        ("AccessDenied", 1),
        ("KmsAccessDenied", 1),
        ("KmsDisabled", 1),
        ("KmsNotFound", 1),
    ],
)
def test_fatal_errors_of_the_queue(code: str, exit_code: int) -> None:
    found = fatal(ClientError({"Error": {"Code": code}}, "ReceiveMessage"), "read")
    assert found is not None
    assert found.exit_with == exit_code


def test_other_errors_of_the_queue() -> None:
    missing = fatal(NoCredentialsError(), "read")
    assert missing is not None
    assert missing.exit_with == 78
    throttled = ClientError({"Error": {"Code": "RequestThrottled"}}, "ReceiveMessage")
    silent = EndpointConnectionError(endpoint_url="http://127.0.0.1:1")
    for error in (throttled, silent):
        assert fatal(error, "read") is None
        assert transient(error)
    assert not transient(KeyError())


def test_a_message_that_is_no_longer_ours() -> None:
    for code, gone in (("ReceiptHandleIsInvalid", True), ("MessageNotInflight", True), ("Throttled", False)):
        assert (
            meaning_of(ClientError({"Error": {"Code": code}}, "DeleteMessage")) is Meaning.RECEIPT_EXPIRED
        ) is gone


def test_only_a_message_that_is_gone_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """A real client, which is answered as AWS would."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "nobody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "nothing")
    client = aws.sqs("http://127.0.0.1:1", "eu-west-2")
    queue = WorkQueue(client, "http://127.0.0.1:1/q")
    with Stubber(client) as answers:
        answers.add_client_error("delete_message", "ReceiptHandleIsInvalid")
        assert not queue.delete(message())
        answers.add_client_error("delete_message", "RequestThrottled")
        with pytest.raises(ClientError, match="RequestThrottled"):
            queue.delete(message())
        answers.add_client_error("delete_message", "AccessDenied")
        with pytest.raises(
            FatalQueueError, match=r"cannot delete a message of q: not allowed \(AccessDenied\)"
        ):
            queue.delete(message())


def test_errors_of_a_job() -> None:
    assert failed(BadInput("site 3 has no geometry")) == Refused("site 3 has no geometry")
    assert isinstance(failed(StoreError("forbidden")), Refused)
    for error in (StoreUnavailable("full"), Transient("later"), ConfigError("bundle"), MemoryError()):
        assert isinstance(failed(error), Failed)


def test_the_estimate_follows_what_was_measured() -> None:
    estimates = Estimates()
    assert estimates.of("nutrient", 10) == FIRST == 45.0
    for _ in range(9):
        estimates.learn("nutrient", 100, 2.0)
    assert estimates.of("nutrient", 10) == 2.0, "a smaller one takes no longer"
    assert estimates.of("nutrient", 5000) == 100.0
    assert estimates.of("gcn", 10) == FIRST


@given(st.lists(st.tuples(st.floats(1, 1e6), st.floats(0.01, 1e4)), min_size=1), st.floats(1, 1e6))
def test_the_estimate_grows_with_the_size(past: list[tuple[float, float]], size: float) -> None:
    estimates = Estimates()
    for earlier, seconds in past:
        estimates.learn("k", earlier, seconds)
    assert estimates.of("k", size) <= estimates.of("k", size * 2) * (1 + 1e-9)


def test_attempts_survive_the_process_and_are_taken_back(store: Store) -> None:
    attempts = Attempts(store, "executions/u/r1")
    assert [attempts.begin(), attempts.begin()] == [Count(1), Count(2)]
    Attempts(store, "executions/u/r1").take_back()
    assert attempts.begin() == Count(2, taken_back=1)
    for odd in (b"[nonsense", b"{}", b"[]", b'{"attempts": -1}', b'{"attempts": "3"}'):
        store.put("executions/u/r1/attempts.json", odd)
        assert attempts.begin() == Count(1)


def test_when_attempts_are_used_up() -> None:
    assert used_up(Count(3), 9, 3) is None
    assert "started 3 times" in (used_up(Count(4), 4, 3) or "")
    assert "delivered 10 times" in (used_up(Count(1), 10, 3) or ""), "the queue's count is the backstop"


def test_a_deadline_keeps_time_for_saving() -> None:
    clock = Clock()
    deadline = Deadline(Stop(30.0, clock), clock.now, timeout=100.0)
    assert deadline.too_late(rest=1e9) is None, "a job may hope to be quicker than it seems"
    assert deadline.no_room(69.0) is None
    assert deadline.no_room(71.0) is not None
    clock.now += 70.0
    assert deadline.too_late(rest=0.1) is not None


def test_a_stop_lets_finish_what_fits_into_the_grace() -> None:
    clock = Clock()
    stop = Stop(30.0, clock)
    deadline = Deadline(stop, clock.now, None)
    stop.ask()
    assert deadline.too_late(rest=24.0) is None
    assert deadline.too_late(rest=26.0) == "the worker stops"
    clock.now += 25.0
    stop.ask()
    assert stop.left() == 5.0, "asked again, it has no more time"
    assert deadline.too_late(rest=1.0) == "the worker stops"


def made(store: Store, clock: Clock, timeout: float) -> tuple[Context, Heard]:
    heard = Heard()
    job = jobs.parse(message({"timeout_s": timeout}), store)
    report = JobReport(Reporter(heard, "w", "tiny"), job, clock)  # type: ignore[arg-type]  # it only sends
    return Context(job, store, report, Deadline(Stop(30.0, clock), 1000.0, timeout), State(), clock), heard


def test_where_the_next_chunk_would_not_fit_the_job_is_handed_back_with_what_is_saved(store: Store) -> None:
    clock = Clock()
    context, _heard = made(store, clock, timeout=100.0)
    chunks = context.chunks()
    for number in range(2):
        assert chunks.load(str(number)) is None
        clock.now += 30.0
        if number == 0:
            chunks.save("0", b"x")
    with pytest.raises(StopWork) as stopped:
        chunks.save("1", b"x")
    assert isinstance(stopped.value.outcome, HandedBack)
    assert not stopped.value.outcome.counts, "it got somewhere"
    assert store.get("messages/m-1/checkpoint/1") == b"x"
    assert context.state.heartbeat == clock.now


def test_handed_back_without_anything_saved_counts_as_an_attempt(store: Store) -> None:
    clock = Clock()
    context, _heard = made(store, clock, timeout=100.0)
    clock.now += 71.0
    with pytest.raises(StopWork) as stopped:
        context.progress(0.2, "slow")
    assert stopped.value.outcome == HandedBack("its time here is over", counts=True)


def test_progress_is_reported_at_most_once_a_second_and_makes_a_slow_job_longer(store: Store) -> None:
    clock = Clock()
    context, heard = made(store, clock, timeout=1000.0)
    for tick in range(50):
        clock.now += 0.1
        context.progress(0.1 + tick / 1000, "on it")
    assert 4 <= len(heard.sent) <= 6
    assert len({once for _body, once in heard.sent}) == len(heard.sent)
    assert context.state.expected_duration > 30.0
    assert context.state.task_start == 1000.0


@pytest.mark.parametrize(
    "body",
    [
        "{",
        "[]",
        "[" * 100_000,
        {"version": 2},
        {"action_uuid": "x"},
        {"action_uuid": 7},
        {"action_uuid": "019a0000-0000-7000-8000-000000000001", "run": True},
        {"timeout_s": "soon"},
        {"timeout_s": float("inf")},
        {"timeout_s": float("nan")},
        {"timeout_s": 10**400},
        {"timeout_s": 0},
        {"output": "file:///etc"},
        {"output": 3},
    ],
)
def test_a_hostile_message_becomes_a_problem_that_can_be_reported(body: object, store: Store) -> None:
    job = jobs.parse(message(body), store)
    assert job.problem


def test_an_output_cannot_leave_the_store(store: Store) -> None:
    assert jobs.parse(message({"output": f"{store.url}/a/../../b"}), store).problem
    assert jobs.parse(message({"output": f"{store.url}/a/%2e%2e/b"}), store).problem
    assert jobs.parse(message({"output": f"{store.url}/a/b/"}), store).output == "a/b"


def test_mission_b3_the_rate_of_a_worker_is_per_second() -> None:
    heard = Heard()
    reporter = Reporter(heard, "w-1", "assessment")  # type: ignore[arg-type]  # it only sends
    reporter._started -= 20
    reporter.of_itself("beat", State(done=1, failed=1))
    assert heard.sent[-1][0]["rate"] == pytest.approx(0.1, rel=0.1)


def test_caboose_reads_the_messages_of_the_worker(store: Store) -> None:
    heard = Heard()
    reporter = Reporter(heard, "w-1", "assessment")  # type: ignore[arg-type]  # it only sends
    uuid = "019a0000-0000-7000-8000-000000000001"
    report = JobReport(reporter, jobs.parse(message({"action_uuid": uuid, "run": 2}, deliveries=3), store))
    report.started()
    report.progress(0.5, "land use")
    report.handed_back("the worker stops")
    report.end(Done("executions/x/output.json"))
    report.end(Refused("no sites"))
    reporter.of_itself("beat", State(done=2, failed=1))
    *said, beat = [read(json.dumps(body)) for body, _once in heard.sent]
    assert [r.status for r in said if isinstance(r, Report)] == [
        "RUNNING",
        "RUNNING",
        "BACKOFF",
        "SUCCESSFUL",
        "FAILED",
    ]
    assert all(isinstance(r, Report) and (str(r.uuid), r.run) == (uuid, 2) for r in said)
    done, refused = said[3:]
    assert isinstance(done, Report)
    assert isinstance(refused, Report)
    assert (done.output, done.fatal) == ("executions/x/output.json", False)
    assert done.details == {"progress": 1.0, "worker": "w-1", "delivery": 3, "seq": 4}
    assert (refused.error, refused.fatal) == ("no sites", True)
    assert heard.sent[3][1] == heard.sent[4][1] == f"{uuid}-r2-end", "of two ends a FIFO queue keeps one"
    assert isinstance(beat, WorkerReport)
    assert (beat.worker, beat.event, beat.done, beat.failed) == ("w-1", "beat", 2, 1)
