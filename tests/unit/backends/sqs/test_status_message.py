"""Status messages as workers write them, and as enemies would."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from switchyard.backends.sqs.status_message import Report, UnreadableMessage, WorkerReport, read
from switchyard.status import Status

UUID7 = "0190163d-8694-739b-aea5-966c26f8ad91"
GOOD: dict[str, Any] = {
    "version": 1,
    "action_uuid": UUID7,
    "run": 2,
    "status": "INFO",
    "progress": 0.5,
    "step": "intersect",
    "worker": "w-1",
    "delivery": 1,
    "seq": 4,
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)


def test_a_good_message() -> None:
    report = read(json.dumps(GOOD))
    assert isinstance(report, Report)
    assert (str(report.uuid), report.run, report.status, report.fatal) == (UUID7, 2, Status.INFO, False)
    details = {"progress": 0.5, "step": "intersect", "worker": "w-1", "delivery": 1, "seq": 4}
    assert report.details == details


def test_a_workers_own_message() -> None:
    message = {"worker": "w-1", "kind": "assessment", "event": "beat", "done": 3, "failed": 1, "rate": 0.2}
    assert read(json.dumps(message)) == WorkerReport("w-1", "assessment", "beat", 3, 1, 0.2)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"version": 2}, "version 2"),
        ({"version": None}, "version"),
        ({"action_uuid": None}, "belongs to no thread"),
        ({"run": None}, "belongs to no thread"),
        ({"action_uuid": "nonsense"}, "is not a valid UUID"),
        ({"action_uuid": 7}, "is not a valid UUID"),
        ({"action_uuid": "8a6e0804-2bd0-4672-b79d-d97027f9071a"}, "version 7"),
        ({"run": 0}, "is not a count"),
        ({"run": True}, "is not a count"),
        ({"run": 2**40}, "is not a count"),
        ({"run": "1"}, "is not a count"),
        ({"status": "PENDING"}, "is not one of"),
        ({"status": "CANCELED"}, "is not one of"),
        ({"status": ["INFO"]}, "is not one of"),
    ],
)
def test_a_bad_field_is_named(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(UnreadableMessage, match=reason):
        read(json.dumps({**GOOD, **change}))


@pytest.mark.parametrize(
    "body", ["", "{", "[]", "null", '"x"', "{" * 5000, "[" * 100_000, '{"version": NaN}']
)
def test_what_is_not_a_message_is_unreadable(body: str) -> None:
    with pytest.raises(UnreadableMessage):
        read(body)


@pytest.mark.parametrize("progress", [-1, 2, "half", None, float("1e999"), [1]])
def test_senseless_decoration_is_left_out(progress: Any) -> None:
    body = json.dumps({**GOOD, "progress": progress}).replace("Infinity", "1e999")
    report = read(body)
    assert isinstance(report, Report)
    assert "progress" not in report.details


@given(JSON)
def test_anything_at_all_is_read_or_unreadable(value: Any) -> None:
    for body in (
        json.dumps(value),
        json.dumps({**GOOD, "status": value}),
        json.dumps({**GOOD, "run": value}),
    ):
        assert _read_or_unreadable(body)


@given(st.text())
def test_any_text_is_read_or_unreadable(text: str) -> None:
    assert _read_or_unreadable(text)


def _read_or_unreadable(body: str) -> bool:
    """Whether it ended in one of the two ways that there are."""
    try:
        return isinstance(read(body), Report | WorkerReport)
    except UnreadableMessage as error:
        return bool(str(error))


def test_a_number_beyond_all_floats_is_left_out() -> None:
    report = read(json.dumps({**GOOD, "progress": 10**400, "seq": 10**400}))
    assert isinstance(report, Report)
    assert report.details.keys() == {"step", "worker", "delivery"}
