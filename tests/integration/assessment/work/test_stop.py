"""SIGTERM and SIGKILL at any moment: nothing is lost, and no end is reported twice."""

import random
import signal
import time

from tests.integration.assessment.work.station import Station
from tests.waiting import until


def test_sigterm_saves_and_gives_the_message_back_at_once(station: Station) -> None:
    uuid = station.send(do="steps")
    worker = station.spawn(SQS_VISIBILITY_TIMEOUT="600")
    until(lambda: station.statuses(uuid))
    worker.send(signal.SIGTERM)
    assert worker.wait(60) == 0
    received = station.sqs.receive_message(QueueUrl=station.queue, WaitTimeSeconds=1)
    assert len(received["Messages"]) == 1
    assert station.statuses(uuid)[-1] == "BACKOFF"
    assert b'"attempts": 0' in station.store.get(f"{station.home(uuid)}/attempts.json")


def test_sigterm_lets_a_job_finish_that_can(station: Station) -> None:
    uuid = station.send(do="echo", seconds=1.5)
    worker = station.spawn(SQS_VISIBILITY_TIMEOUT="600")
    until(lambda: station.statuses(uuid))
    worker.send(signal.SIGTERM)
    assert worker.wait(60) == 0
    assert station.end(uuid)["status"] == "SUCCESSFUL"
    assert station.empty()


def test_a_job_that_comes_to_no_step_is_given_back_when_the_grace_ends(station: Station) -> None:
    uuid = station.send(do="hang")
    worker = station.spawn(SQS_VISIBILITY_TIMEOUT="600", SHUTDOWN_GRACE_SECONDS="4")
    until(lambda: station.statuses(uuid))
    worker.send(signal.SIGTERM)
    assert worker.wait(60) == 0
    assert station.sqs.receive_message(QueueUrl=station.queue, WaitTimeSeconds=1)["Messages"]
    assert station.statuses(uuid) == ["RUNNING", "BACKOFF"]
    assert b'"attempts": 0' in station.store.get(f"{station.home(uuid)}/attempts.json")


def test_the_second_signal_ends_it_at_once(station: Station) -> None:
    uuid = station.send(do="hang")
    worker = station.spawn()
    until(lambda: station.statuses(uuid))

    def ended() -> bool:
        worker.send(signal.SIGTERM)  # two signals at the same instant are one, so more than two may be needed
        return not worker.running()

    until(ended)
    assert worker.exit_code == -15


def test_random_kills_lose_no_job_and_report_every_end_once(station: Station) -> None:
    chance = random.Random(6)
    jobs = [station.send(do="echo", seconds=chance.uniform(0, 0.2)) for _ in range(40)]
    settings = {"MAX_ATTEMPTS": "50", "SQS_VISIBILITY_TIMEOUT": "3"}
    workers = [station.spawn(**settings) for _ in range(2)]
    kills = 0

    def finished() -> bool:
        nonlocal kills
        if kills < 8:
            time.sleep(
                chance.uniform(0.3, 1.2)
            )  # not a wait for anything: the moment of the kill is the test
            victim = chance.randrange(2)
            workers[victim].kill()
            workers[victim] = station.spawn(**settings)
            kills += 1
        return {m["action_uuid"] for m in station.ends()} == set(jobs)

    until(finished, 90, every=0.1)
    until(station.empty)
    told = [m["action_uuid"] for m in station.ends()]
    assert sorted(told) == sorted(jobs), "exactly one end each"
    assert all(m["status"] == "SUCCESSFUL" for m in station.ends())
