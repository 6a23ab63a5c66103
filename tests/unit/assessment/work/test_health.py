"""What /health answers, for every state that the worker can be in."""

import socket
from typing import Any

import pytest

from assessment.work import health
from assessment.work.answers import answers
from assessment.work.health import HealthProcess
from assessment.work.settings import Settings
from assessment.work.state import ERROR, RUNNING, STOPPED, State
from assessment.work.verdict import Limits
from switchyard.errors import AddressInUse, ConfigError

NOW = 1000.0
SERVICE = "nrf-impact-assessment-worker"


def asked(path: str = "/health", **fields: Any) -> tuple[int, Any, State]:
    state = State(**{"status": RUNNING, "heartbeat": NOW - 2.5, "queue_answers": 1, **fields})
    app = answers(state, Limits(120.0, 1.5), SERVICE, lambda: NOW)
    with app.test_client().get(path) as answer:
        body = answer.get_json() if answer.is_json else answer.get_data(as_text=True)
    return answer.status_code, body, state


def test_well() -> None:
    assert asked()[:2] == (200, {"status": "ok", "service": SERVICE, "heartbeat_age": 2.5})


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"status": ERROR}, "status=-1"),
        ({"status": STOPPED}, "status=0"),
        ({"heartbeat": NOW - 125.25}, "heartbeat_stale (125.2s > 120.0s)"),
        ({"heartbeat": 0.0}, "heartbeat_stale (infs > 120.0s)"),
        ({"status": ERROR, "heartbeat": NOW - 130}, "status=-1, heartbeat_stale (130.0s > 120.0s)"),
        # a long task: past its own time, and silent for longer than both limits
        ({"task_start": NOW - 68, "expected_duration": 45.0}, "task_overtime (68.0s > 67.5s)"),
        (
            {"task_start": NOW - 130, "expected_duration": 45.0, "heartbeat": NOW - 121},
            "heartbeat_stale (121.0s > 120.0s), task_overtime (130.0s > 67.5s)",
        ),
    ],
)
def test_unavailable(fields: dict[str, Any], reason: str) -> None:
    status, body, _state = asked(**fields)
    assert status == 503
    assert body == {"status": "unavailable", "service": SERVICE, "reason": reason}


def test_a_long_task_within_its_time_is_well() -> None:
    assert asked(task_start=NOW - 67, expected_duration=45.0)[0] == 200


def test_an_estimate_lengthens_the_silence_that_is_allowed() -> None:
    """As long as the estimate with its buffer: 900 s of 600; never less than HEARTBEAT_TIMEOUT."""
    silent: dict[str, Any] = {"task_start": NOW - 899, "expected_duration": 600.0, "heartbeat": NOW - 898}
    assert asked(**silent)[0] == 200
    status, body, _state = asked(**{**silent, "task_start": NOW - 902, "heartbeat": NOW - 901})
    assert (status, body["reason"]) == (
        503,
        "heartbeat_stale (901.0s > 900.0s), task_overtime (902.0s > 900.0s)",
    )
    assert asked(task_start=NOW - 40, expected_duration=31.0, heartbeat=NOW - 40)[0] == 200


def test_only_an_error_that_was_answered_counts_as_seen() -> None:
    assert asked(status=ERROR)[2].error_seen == 1
    assert asked(status=STOPPED)[2].error_seen == 0
    assert asked("/livez", status=ERROR)[2].error_seen == 0


def test_the_other_probes() -> None:
    assert asked("/livez", status=ERROR)[0] == 200, "restarting would not mend the queue"
    assert asked("/livez", heartbeat=NOW - 121)[0] == 503
    assert asked("/readyz")[:2] == (
        200,
        {"ready": True, "checks": {"running": True, "heartbeat": True, "queue": True}},
    )
    assert asked("/readyz", queue_answers=0)[0] == 503
    status, body, _state = asked("/metrics", done=3)
    assert status == 200
    assert 'switchyard_assessment_jobs_total{outcome="done"} 3.0' in body


def test_the_default_address_is_loopback_as_documented() -> None:
    assert Settings().health_host == "127.0.0.1"


def settings(port: int, host: str = "127.0.0.1") -> Settings:
    return Settings(health_host=host, health_port=port)


def test_an_address_that_is_taken_or_not_ours_is_reported_at_the_start() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        words = f"cannot listen on 127.0.0.1:{port}: another process has this port; set PORT to another"
        with pytest.raises(AddressInUse, match=words), HealthProcess(settings(port), State(), SERVICE):
            pass
    elsewhere = HealthProcess(settings(0, "192.0.2.1"), State(), SERVICE)
    with pytest.raises(ConfigError, match=r"cannot listen on 192\.0\.2\.1:0: Cannot assign"), elsewhere:
        pass


def test_a_health_server_that_dies_at_its_start_ends_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_serve", lambda *_: None)
    dead = HealthProcess(settings(0), State(), SERVICE)
    with pytest.raises(ConfigError, match="the health server did not start"), dead:
        pass
    assert dead._child.exitcode == 0
    dead.__exit__(None, None, None)
