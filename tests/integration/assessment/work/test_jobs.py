"""What becomes of jobs, on a tiny workload: the base alone."""

import json
import signal
from uuid import UUID

from assessment.work.queue import WorkQueue
from switchyard.backends.carry_over import carry_over
from switchyard.places import Places
from tests.integration.assessment.work.station import Station
from tests.waiting import until


def test_every_kind_of_end_and_its_report(station: Station) -> None:
    good = station.send(do="echo", correlation="c-good")
    bad = station.send(do="refuse")
    weather = station.send(do="fail")
    surprise = station.send(do="surprise")
    following = station.part.queue()
    worker = station.spawn(MAX_ATTEMPTS="2", TINY_NEXT=following)
    end = station.end(good)
    assert end | {"worker": "", "seq": 0} == {
        "version": 1,
        "action_uuid": good,
        "run": 1,
        "status": "SUCCESSFUL",
        "fatal": False,
        "progress": 1.0,
        "output": f"{station.home(good)}/output.json",
        "worker": "",
        "delivery": 1,
        "seq": 0,
    }
    refused = station.end(bad)
    assert (refused["status"], refused["fatal"]) == ("FAILED", True)
    assert refused["error"] == "there is no such site"
    given_up = station.end(weather)
    assert given_up["fatal"]
    assert given_up["error"] == "the weather (after 2 attempts; needs review)"
    assert station.statuses(weather) == ["RUNNING", "BACKOFF", "RUNNING", "FAILED"]
    assert "ZeroDivisionError" in station.end(surprise)["error"]
    assert until(station.empty)
    (next_job,) = station.sqs.receive_message(QueueUrl=following, WaitTimeSeconds=1)["Messages"]
    assert json.loads(next_job["Body"])["action_uuid"] == good

    worker.send(signal.SIGTERM)
    assert worker.wait(60) == 0
    station.hear()
    own = [m for m in station.heard if "event" in m]
    assert [m["event"] for m in own if m["event"] != "beat"] == ["started", "ended"]
    assert (own[-1]["kind"], own[-1]["done"], own[-1]["failed"]) == ("tiny", 1, 3)
    _ids_are_on_every_line(worker.lines(), good)


def _ids_are_on_every_line(lines: list[dict[str, object]], good: str) -> None:
    ids = ("correlation_id", "action_uuid", "message_id", "queue")
    assert all(name in line for line in lines for name in ids)
    of_it = [line for line in lines if line["action_uuid"] == good]
    assert {line["correlation_id"] for line in of_it} == {"c-good"}
    assert all(line["message_id"] and line["queue"] for line in of_it)
    outside = [line for line in lines if line["event"] in ("worker started", "worker ended")]
    assert len(outside) == 2
    assert all(line[name] is None for line in outside for name in ids)
    assert any("ZeroDivisionError" in str(line.get("exception")) for line in lines)


def test_unwanted_jobs_are_skipped_and_messages_without_an_action_are_answered(station: Station) -> None:
    cancelled, told, found = (station.send(do="crash") for _ in range(3))
    station.store.put(f"{station.home(cancelled)}/cancel", b"")
    station.store.put(f"{station.home(told)}/end.json", b"{}")
    station.store.put(f"{station.home(found)}/output.json", b"{}")
    station.sqs.send_message(QueueUrl=station.queue, MessageBody="{")
    station.sqs.send_message(QueueUrl=station.queue, MessageBody=json.dumps({"do": "echo"}))
    elsewhere = station.send(do="echo", output="file:///etc/cron.d")
    worker = station.spawn()
    assert station.end(found)["status"] == "SUCCESSFUL"
    assert "not in this worker's store" in station.end(elsewhere)["error"]
    assert until(station.empty)
    assert worker.running()
    strangers = {m["status"]: m for m in station.ends() if m["action_uuid"] is None}
    assert strangers["FAILED"]["error"].startswith("the message is not JSON")
    assert station.store.size(strangers["SUCCESSFUL"]["output"]) == 2
    assert not station.ends(cancelled)
    assert not station.ends(told)


def test_a_job_that_kills_its_worker_ends_instead_of_looping(station: Station) -> None:
    uuid = station.send(do="crash")
    for _ in range(2):
        worker = station.spawn(MAX_ATTEMPTS="2")
        assert worker.wait(60) < 0
    station.spawn(MAX_ATTEMPTS="2")
    end = station.end(uuid)
    assert end["fatal"]
    assert "started 2 times" in end["error"]
    assert until(station.empty)


def test_a_message_that_is_deleted_meanwhile_is_no_longer_held(station: Station) -> None:
    station.send(do="echo")
    queue = WorkQueue(station.sqs, station.queue)
    message = queue.receive(1, 600)
    assert message is not None
    assert queue.hide(message, 300)
    assert queue.delete(message)
    assert not queue.hide(message, 0)


def test_killed_after_95_of_100_chunks_it_computes_5(station: Station) -> None:
    uuid = station.send(do="chunks", pause_at=95)
    first = station.spawn()
    checkpoint = f"{station.home(uuid)}/checkpoint/"
    until(lambda: len(list(station.store.list(checkpoint))) == 95)
    killed = first.pid
    first.kill()
    second = station.spawn()
    station.end(uuid)
    computed_by = [int(station.store.get(key)) for key in station.store.list(checkpoint)]
    assert computed_by.count(killed) == 95
    assert computed_by.count(second.pid) == 5


def test_a_run_that_resumes_computes_what_the_run_before_did_not(station: Station) -> None:
    uuid = station.send(do="chunks", pause_at=95)
    first = station.spawn()
    checkpoint = f"{station.home(uuid)}/checkpoint/"
    until(lambda: len(list(station.store.list(checkpoint))) == 95)
    killed = first.pid
    first.kill()
    station.sqs.purge_queue(QueueUrl=station.queue)  # run 1 has ended
    assert carry_over(station.store, Places(UUID(uuid), 2), everything=False) == 95  # as conductor does
    second = station.spawn()
    station.send(uuid, do="chunks", run=2)
    assert station.end(uuid)["run"] == 2
    again = Places(UUID(uuid), 2).folder
    computed_by = [int(station.store.get(key)) for key in station.store.list(f"{again}/checkpoint/")]
    assert computed_by.count(killed) == 95
    assert computed_by.count(second.pid) == 5


def test_progress_is_reported_and_a_cancel_ends_a_running_job(station: Station) -> None:
    uuid = station.send(do="steps")
    station.spawn(SQS_VISIBILITY_TIMEOUT="5")
    until(lambda: station.statuses(uuid).count("RUNNING") >= 3, every=0.1)
    of_it = [m for m in station.heard if m.get("action_uuid") == uuid]
    assert [m["seq"] for m in of_it] == list(range(1, len(of_it) + 1))
    assert 0 < of_it[-1]["progress"] < 1
    station.store.put(f"{station.home(uuid)}/cancel", b"")
    assert until(station.empty)
    assert not station.ends(uuid)
