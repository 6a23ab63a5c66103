"""Causes: an error without what differs from one action to the next, stored with every unsuccessful end."""

import json
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.integration.ledger.ledger import Ledger

pytestmark = pytest.mark.database

ALIKE = [
    ("answered 503 Service Unavailable: {*}", ['answered 503 Service Unavailable: {"id": 17}', 'answered 503 Service Unavailable: {"a": "b", "c": [1, 2]}'.replace("[1, 2]", "1")]),
    ("connect to * refused", ["connect to api.example.com:443 refused", "connect to 10.0.0.7 refused", "connect to db-3 refused", "connect to partner.example refused"]),
    ("exit code 65: cannot read *", ["exit code 65: cannot read 17.tif", "exit code 65: cannot read 'a b'", "exit code 65: cannot read /data/2026/x.tif"]),
    ("exit code 1: cannot read *", ["exit code 1: cannot read 17.tif"]),
    ("botocore.exceptions.ClientError: request *", ["Traceback (most recent call last):\n  File \"a.py\", line 3\nbotocore.exceptions.ClientError: request 0197a0f3-8c1e-7a3b-9d2e-1f4c5b6a7d8e\n"]),
    ("the input does not fit sums's schema: * is not of type *", ["the input does not fit sums's schema: 'x' is not of type 'number'", "\n  the input does not fit sums's schema: 12.5 is not of type 'string'\nmore"]),
    ("no outcome within * s", ["no outcome within 30 s", "no outcome within 2.5 s"]),
    ("ids: *", ["ids: 1", "ids: 1, 2, 3", f"ids: {uuid4()}; {uuid4()}"]),
    ("no error text", ["", " \n\t", None]),
]  # fmt: skip


def cause_of(ledger: Ledger, error: str | None) -> str:
    [(cause,)] = ledger.connection.execute("select switchyard.cause_of(%s)", [error]).fetchall()
    found: str = cause
    return found


def fail(ledger: Ledger, error: str | None, name: str = "noop", status: str = "FAILED") -> UUID:
    uuid = ledger.submit(name)
    ledger.connection.execute(
        "insert into switchyard.event (action_uuid, status, run, attempt, error) values (%s, %s, 1, 1, %s)",
        [uuid, status, error],
    )
    return uuid


def causes(ledger: Ledger) -> list[tuple[Any, ...]]:
    return ledger.connection.execute(
        "select cause, count, action_names, trend, example, error from switchyard.cause order by count desc, cause"
    ).fetchall()


@pytest.mark.parametrize(("cause", "errors"), ALIKE)
def test_errors_that_differ_in_numbers_ids_hosts_and_quoted_texts_have_one_cause(
    ledger: Ledger, cause: str, errors: list[str | None]
) -> None:
    assert {cause_of(ledger, error) for error in errors} == {cause}


QUOTED = st.text(st.characters(codec="utf-8", exclude_characters="\"'`\n\r\0"), max_size=20)
VARIABLE = st.one_of(
    st.integers().map(str),
    st.uuids().map(str),
    st.ip_addresses(v=4).map(str),
    QUOTED.map(json.dumps).filter(lambda text: "\\" not in text),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(VARIABLE, min_size=2, max_size=2))
def test_the_cause_does_not_depend_on_numbers_ids_or_texts(ledger: Ledger, values: list[str]) -> None:
    assert {cause_of(ledger, f"cannot reach {value} now") for value in values} == {"cannot reach * now"}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=3000))
def test_any_error_has_a_cause_that_depends_on_a_bounded_part_of_it(ledger: Ledger, error: str) -> None:
    cause = cause_of(ledger, error)
    assert 1 <= len(cause) <= 200
    if len(error) >= 1000 and not error.startswith(("Traceback", " ", "\n", "\r", "\t")):
        assert cause == cause_of(ledger, error[:1000]) == cause_of(ledger, error[:1000] + "x" * 64_000)


def test_only_unsuccessful_ends_have_a_cause_and_each_has_a_note(ledger: Ledger) -> None:
    expected = {
        "FAILED": "it broke *",
        "TIMED_OUT": "it broke *",
        "INVALID": "it broke *",
        "RETRIES_EXHAUSTED": "it broke *",
        "CANCELED": None,
        "SUCCESSFUL": None,
        "BACKOFF": None,
    }
    for status, cause in expected.items():
        assert ledger.thread(fail(ledger, "it broke 17", status=status))["cause"] == cause, status
    again = fail(ledger, "it broke 17")
    ledger.connection.execute("select switchyard.retrigger(%s, 'ann', 'fixed')", [again])
    assert ledger.thread(again)["cause"] is None
    for error in (None, "", "\n\n", "\n first\nsecond"):
        for status in ("FAILED", "TIMED_OUT", "INVALID", "RETRIES_EXHAUSTED", "CANCELED"):
            assert ledger.thread(fail(ledger, error, status=status))["note"], (error, status)
    assert ledger.thread(fail(ledger, "\n first\nsecond"))["note"] == "first"


def test_a_batch_of_failures_gets_its_causes_as_single_ones_do(ledger: Ledger) -> None:
    uuids = [ledger.submit() for _ in range(3)]
    ledger.connection.execute(
        "insert into switchyard.event (action_uuid, status, run, attempt, error)"
        " select u, case n when 3 then 'SUCCESSFUL' else 'FAILED' end::switchyard.status, 1, 1, 'broke ' || n"
        " from unnest(%s::uuid[]) with ordinality as g (u, n)",
        [uuids],
    )
    assert [ledger.thread(uuid)["cause"] for uuid in uuids] == ["broke *", "broke *", None]


def test_the_view_has_a_row_for_each_cause_of_the_inbox(ledger: Ledger) -> None:
    fail(ledger, "answered 500: 1", "b")
    newest = fail(ledger, "answered 500: 2", "a")
    dismissed = fail(ledger, "answered 500: 3")
    other = fail(ledger, "no route to host 10.0.0.1")
    ledger.connection.execute("select switchyard.dismiss_thread(%s, 'ann', 'known')", [dismissed])
    assert causes(ledger) == [
        ("answered 500: *", 2, ["a", "b"], "new", newest, "answered 500: 2"),
        ("no route to host *", 1, ["noop"], "new", other, "no route to host 10.0.0.1"),
    ]


@pytest.mark.parametrize(
    ("hours", "trend"),
    [
        ((0.5, 0.4), "new"),
        ((3, 1.5), "quiet"),
        ((3, 0.5, 0.4), "growing"),
        ((1.6, 1.5, 0.5), "shrinking"),
        ((1.5, 0.5), "steady"),
    ],
)
def test_the_trend_compares_the_last_hour_with_the_one_before(
    ledger: Ledger, hours: tuple[float, ...], trend: str
) -> None:
    for age in hours:
        uuid = fail(ledger, "broke")
        ledger.connection.execute(
            "update switchyard.thread set ended_at = now() - make_interval(secs => %s) where action_uuid = %s",
            [age * 3600, uuid],
        )
    assert [row[3] for row in causes(ledger)] == [trend]


@pytest.mark.breaks_ledger
def test_verify_reports_a_failure_without_a_cause_and_a_cause_without_a_failure(ledger: Ledger) -> None:
    failed, waiting = fail(ledger, "broke"), ledger.submit()
    ledger.connection.execute("update switchyard.thread set cause = null where action_uuid = %s", [failed])
    ledger.connection.execute("update switchyard.thread set cause = 'x' where action_uuid = %s", [waiting])
    found = ledger.connection.execute(
        "select action_uuid, actual from switchyard.verify() where problem = 'cause differs from its status' order by 1"
    ).fetchall()
    assert found == [(failed, "no cause"), (waiting, "x")]
