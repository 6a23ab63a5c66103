"""What an answer of the Kubernetes API means."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from switchyard.backends.kubernetes.answer import RefusedError


def refused(status: int, retry_after: str | None = None, **told: Any) -> RefusedError:
    return RefusedError(status, json.dumps({"kind": "Status", **told}).encode(), retry_after)


@pytest.mark.parametrize(
    ("header", "details", "seconds"),
    [
        ("7", {}, 7.0),
        (None, {"retryAfterSeconds": 3}, 3.0),
        ("5", {"retryAfterSeconds": 3}, 5.0),
        ("Wed, 21 Oct 2026 07:28:00 GMT", {}, None),
        ("-1", {}, None),
        (None, {}, None),
    ],
)
def test_when_to_come_back(header: str | None, details: dict[str, Any], seconds: float | None) -> None:
    assert refused(429, header, details=details).retry_after == seconds


def test_a_quota_is_distinguished_from_a_missing_right() -> None:
    assert refused(403, message="x is forbidden: exceeded quota: limit").quota
    assert not refused(403, message="cannot create resource").quota


def test_what_is_missing_is_named() -> None:
    named = refused(404, details={"kind": "namespaces", "name": "w"})
    assert named.missing == 'namespaces "w"'
    assert "CRD" in str(RefusedError(404, b"404 page not found\n").missing)
    assert refused(403).missing is None


@pytest.mark.parametrize(
    ("status", "temporary"), [(408, True), (429, True), (500, True), (504, True), (422, False)]
)
def test_what_is_worth_another_try(status: int, temporary: bool) -> None:
    assert refused(status).temporary is temporary


@given(st.integers(400, 599), st.binary(max_size=200), st.none() | st.text(max_size=20))
def test_no_answer_is_too_strange(status: int, body: bytes, header: str | None) -> None:
    error = RefusedError(status, body, header)
    assert str(status) in str(error)


def test_a_watchs_error_event() -> None:
    gone = RefusedError.from_status(
        {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}
    )
    assert gone.gone
    assert gone.message == "too old"
    assert RefusedError.from_status({}).status == 500
