"""The first rule that matches decides; a hostile body decides nothing by taking long."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from switchyard.backends.http.answer import Answer, NoJsonError
from switchyard.backends.http.model import DEFAULT_RESPONSES, ResponseRule
from switchyard.backends.http.rules import MATCH_SECONDS, Rule, compiled, verdict

DEFAULT = tuple(compiled(rule) for rule in DEFAULT_RESPONSES)


def rules(*written: dict[str, Any]) -> list[Rule]:
    return [compiled(ResponseRule.model_validate(rule)) for rule in written]


def answer(status: int = 200, body: bytes = b"", fault: str | None = None) -> Answer:
    return Answer(status, "", {}, body, fault)


@pytest.mark.parametrize(
    ("status", "meaning"),
    [(200, "success"), (204, "success"), (299, "success"), (301, "failed"), (307, "failed"), (400, "failed"),
     (404, "failed"), (408, "retry"), (409, "failed"), (425, "retry"), (429, "retry"), (500, "retry"),
     (503, "retry"), (599, "retry"), (600, "failed"), (999, "failed")],
)  # fmt: skip
def test_by_status_alone(status: int, meaning: str) -> None:
    assert verdict(DEFAULT, answer(status)) == meaning


def test_a_document_is_read_once_for_all_rules() -> None:
    several = rules(
        {"path": "$.error", "outcome": "failed"},
        {"path": "$.state", "matches": "^busy$", "outcome": "retry"},
        {"path": "$.state", "outcome": "success"},
    )
    for body, meaning in ((b'{"state":"busy"}', "retry"), (b'{"state":"done"}', "success")):
        one = answer(body=body)
        assert verdict(several, one) == meaning
        assert one.document is one.document
    broken = answer(body=b"{")
    assert verdict(several, broken) == "failed"
    with pytest.raises(NoJsonError):
        assert broken.document


def test_first_match_wins() -> None:
    both = rules(
        {"status": 409, "path": "$.error", "matches": "already exists", "outcome": "success"},
        {"status": "400-499", "outcome": "failed"},
        {"outcome": "retry"},
    )
    assert verdict(both, answer(409, b'{"error": "it already exists"}')) == "success"
    assert verdict(both, answer(409, b'{"error": "no"}')) == "failed"
    assert verdict(both, answer(409, b"already exists, but no JSON")) == "failed"
    assert verdict(both, answer(500)) == "retry"


@pytest.mark.parametrize(
    ("body", "meaning"),
    [
        (b'{"error": {"code": 7}}', "retry"),
        (b'{"error": {}}', "failed"),
        (b'{"error": [7]}', "failed"),
        (b"7", "failed"),
    ],
)
def test_a_plain_path_leads_to_a_value_or_nowhere(body: bytes, meaning: str) -> None:
    assert verdict(rules({"path": "$.error.code", "outcome": "retry"}), answer(200, body)) == meaning


def test_nothing_matches_is_failed() -> None:
    assert verdict(rules({"status": 200, "outcome": "success"}), answer(201)) == "failed"


def test_path_alone_asks_whether_something_is_there() -> None:
    there = rules({"path": "$.items[?@.ok]", "outcome": "success"})
    assert verdict(there, answer(200, b'{"items": [{"ok": true}]}')) == "success"
    assert verdict(there, answer(200, b'{"items": [{}]}')) == "failed"
    assert verdict(rules({"path": "$.a", "outcome": "success"}), answer(200, b'{"a": null}')) == "success"


def test_matches_looks_at_values_as_json_and_at_the_whole_body() -> None:
    assert (
        verdict(rules({"path": "$.n", "matches": "^12$", "outcome": "success"}), answer(200, b'{"n": 12}'))
        == "success"
    )
    assert (
        verdict(rules({"matches": "(?i)OUT OF", "outcome": "retry"}), answer(200, b"out of quota")) == "retry"
    )


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b"1" * 5000,
        b"\xff\xfe",
        b"",
        b"nan",
        b'"\\ud800"',
        b'{"a": 1',
        b"\x00",
    ],
)
def test_a_body_that_is_no_json_never_matches_a_path(body: bytes) -> None:
    assert verdict(rules({"path": "$..a", "outcome": "success"}), answer(200, body)) == "failed"


def test_a_cut_body_never_matches_a_path() -> None:
    assert verdict(rules({"path": "$.a", "outcome": "success"}), answer(200, b'{"a": 1}', "cut")) == "failed"


def test_an_expression_that_explodes_is_no_match_and_soon() -> None:
    explosive = rules({"matches": "(a+)+$", "outcome": "success"}, {"outcome": "retry"})
    began = time.monotonic()
    assert verdict(explosive, answer(200, b"a" * 4000 + b"!")) == "retry"
    assert time.monotonic() - began < 20 * MATCH_SECONDS


@given(st.integers(100, 599), st.binary(max_size=200))
def test_any_answer_has_a_verdict(status: int, body: bytes) -> None:
    some = rules(
        {"path": "$..error", "matches": "x", "outcome": "failed"}, {"status": "200-299", "outcome": "success"}
    )
    assert verdict(some, answer(status, body)) in ("success", "failed")
