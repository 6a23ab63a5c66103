"""/health from outside: while the worker computes, hangs, fails and ends."""

import json
import signal
import subprocess
import sys
import time
from typing import Any

import psutil

from tests.integration.assessment.work.station import ROOT, Station, Worker
from tests.waiting import until

TASK = ROOT / "config" / "ecs" / "assessment-task.json"
SERVICE = "tiny-worker"


def up(worker: Worker) -> None:
    until(lambda: worker.health("/readyz")[0] == 200)


def test_it_answers_within_100_ms_while_two_jobs_take_all_processors(station: Station) -> None:
    jobs = [station.send(do="spin", seconds=6) for _ in range(2)]
    workers = [station.spawn() for _ in jobs]
    until(lambda: all(station.statuses(uuid) for uuid in jobs))
    taken = []
    ends = time.monotonic() + 3
    while time.monotonic() < ends:
        for worker in workers:
            began = time.perf_counter()
            status, body = worker.health()
            taken.append(time.perf_counter() - began)
            assert (status, body["status"], body["service"]) == (200, "ok", SERVICE)
    assert sorted(taken)[int(len(taken) * 0.99)] < 0.1 * 5, "the promise is 100 ms; margin 5"
    status, metrics = workers[0].health("/metrics")
    assert "switchyard_assessment_jobs_total" in metrics
    assert workers[0].health("/livez") == (200, {"live": True})


def test_a_hung_job_is_reported_and_goes_to_another_worker(station: Station) -> None:
    quick = station.send(do="echo")
    hung = station.spawn(HEARTBEAT_TIMEOUT="1.5")
    station.end(quick)  # a first job might be silent for as long as a first job is expected to take
    uuid = station.send(do="hang", seconds=60)
    until(lambda: station.statuses(uuid) == ["RUNNING"])
    until(lambda: hung.health()[0] == 503)
    body = hung.health()[1]
    assert (body["status"], body["service"]) == ("unavailable", SERVICE)
    assert body["reason"].startswith("heartbeat_stale (")
    assert body["reason"].endswith("s > 1.5s)")
    assert hung.health("/livez")[0] == 503
    station.spawn()
    until(lambda: station.statuses(uuid).count("RUNNING") == 2)


def test_a_missing_queue_is_503_until_seen_and_then_78(station: Station) -> None:
    station.sqs.delete_queue(QueueUrl=station.queue)
    worker = station.spawn()
    answers: list[tuple[int, Any]] = [(0, "")]

    def unavailable() -> bool:
        answers.append(worker.health())
        return answers[-1][0] == 503

    until(unavailable)
    assert answers[-1][1] == {"status": "unavailable", "service": SERVICE, "reason": "status=-1"}
    assert worker.wait(60) == 78


def test_mission_b9_the_health_check_of_the_ecs_task_fails_where_the_queue_is_missing(
    station: Station,
) -> None:
    """The command of the task itself, which is not satisfied by a process that lives."""
    [container] = json.loads(TASK.read_text())["containerDefinitions"]
    worker = station.spawn()
    up(worker)
    check = [word.replace(":8085/", f":{worker.port}/") for word in container["healthCheck"]["command"]]
    assert check[:2] == ["CMD", "python"]
    command = [sys.executable, *check[2:]]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    station.sqs.delete_queue(QueueUrl=station.queue)
    until(lambda: worker.health()[0] == 503)
    assert worker.health("/livez")[0] == 200
    assert subprocess.run(command, capture_output=True, check=False).returncode != 0


def test_a_configured_status_queue_must_exist(station: Station) -> None:
    worker = station.spawn(SQS_STATUS_QUEUE_NAME="nobody-made-this", FATAL_HOLD_SECONDS="0")
    assert worker.wait(60) == 78


def test_the_seeds_environment_is_enough(station: Station) -> None:
    """It names no status queue: jobs are worked on, and a warning says that nothing is reported."""
    worker = station.spawn(SQS_STATUS_QUEUE_NAME=None)
    uuid = station.send(do="echo")
    until(lambda: station.store.size(f"{station.home(uuid)}/end.json") is not None)
    assert worker.health()[0] == 200
    assert sum("no status messages are sent" in line["event"] for line in worker.lines()) == 1


def test_a_queue_that_does_not_answer_is_waited_for(station: Station) -> None:
    worker = station.spawn(SQS_ENDPOINT="http://127.0.0.1:1")
    waiting = "the queue did not answer; waiting"
    until(lambda: sum(line["event"] == waiting for line in worker.lines()) >= 2)
    assert worker.health()[0] == 200
    assert worker.health("/readyz")[1]["checks"] == {"running": True, "heartbeat": True, "queue": False}
    worker.send(signal.SIGTERM)
    assert worker.wait(60) == 0


def test_the_health_process_does_not_outlive_a_killed_worker(station: Station) -> None:
    worker = station.spawn()
    up(worker)
    children = psutil.Process(worker.pid).children(recursive=True)
    assert len(children) == 1, "two processes, no more"
    worker.kill()
    assert not psutil.wait_procs(children, timeout=60)[1]


def test_wrong_settings_are_reported_together(station: Station) -> None:
    worker = station.spawn(SQS_WAIT_TIME_SECONDS="21", MAX_ATTEMPTS="many")
    assert worker.wait(60) != 0
    said = worker.log.read_text()
    assert "SQS_WAIT_TIME_SECONDS='21' is not a whole number from 0 to 20" in said
    assert "MAX_ATTEMPTS='many'" in said
