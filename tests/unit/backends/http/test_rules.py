"""The first rule that matches decides; a hostile body decides nothing by taking long."""

import asyncio
import json
import time
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from switchyard.backends.http import rules as module
from switchyard.backends.http.answer import Answer, NoJsonError
from switchyard.backends.http.model import DEFAULT_RESPONSES, ResponseRule
from switchyard.backends.http.rules import ResponseOutcome, Rule, compiled, outcome_of
from switchyard.errors import PoolUnavailable

DEFAULT = tuple(compiled(rule) for rule in DEFAULT_RESPONSES)


def rules(*written: dict[str, Any]) -> list[Rule]:
    return [compiled(ResponseRule.model_validate(rule)) for rule in written]


def verdict(several: Sequence[Rule], one: Answer) -> ResponseOutcome:
    return asyncio.run(outcome_of(several, one, "hook"))


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
def test_a_body_that_is_not_json_never_matches_a_path(body: bytes) -> None:
    assert verdict(rules({"path": "$..a", "outcome": "success"}), answer(200, body)) == "failed"


def test_a_cut_body_never_matches_a_path() -> None:
    assert verdict(rules({"path": "$.a", "outcome": "success"}), answer(200, b'{"a": 1}', "cut")) == "failed"


def test_an_expression_that_explodes_does_not_match_and_ends_soon() -> None:
    explosive = rules({"matches": "(a+)+$", "outcome": "success"}, {"outcome": "retry"})
    began = time.monotonic()
    assert verdict(explosive, answer(200, b"a" * 4000 + b"!")) == "retry"
    assert time.monotonic() - began < 20


@given(st.integers(100, 599), st.binary(max_size=200))
def test_any_answer_has_a_verdict(status: int, body: bytes) -> None:
    some = rules(
        {"path": "$..error", "matches": "x", "outcome": "failed"}, {"status": "200-299", "outcome": "success"}
    )
    assert verdict(some, answer(status, body)) in ("success", "failed")


def test_security_l7_all_values_of_an_answer_share_one_budget() -> None:
    """Each value by itself would take a quarter of a second, on the event loop."""
    weak = rules({"path": "$.items[*]", "matches": "(a|aa)+$", "outcome": "success"}, {"outcome": "retry"})
    body = json.dumps({"items": ["a" * 40 + "!"] * 60}).encode()
    spent = time.process_time()
    assert verdict(weak, answer(200, body)) == "retry"
    assert time.process_time() - spent < 1.0, "the rest is another process's time"


@pytest.mark.parametrize("path", ["$.items[?@.ok]", "$.items[0].ok", "$['items'][0]['ok']"])
def test_a_short_answer_is_decided_here(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "shared_pool", lambda: pytest.fail("no other process is needed"))
    there = rules({"path": path, "outcome": "success"})
    assert verdict(there, answer(200, b'{"items": [{"ok": true}]}')) == "success"


@pytest.mark.parametrize("path", ["$..ok", "$.items[?match(@.name, 'a.*')]"])
def test_a_costly_path_is_decided_elsewhere(path: str) -> None:
    there = rules({"path": path, "outcome": "success"}, {"outcome": "retry"})
    assert verdict(there, answer(200, b'{"items": [{"ok": true, "name": "abc"}]}')) == "success"
    assert verdict(there, answer(200, b'{"items": []}')) == "retry"


def test_a_pool_that_is_full_leaves_the_rules_by_status(monkeypatch: pytest.MonkeyPatch) -> None:
    def full() -> Any:
        raise PoolUnavailable("too many evaluations")

    monkeypatch.setattr(module, "shared_pool", full)
    there = rules({"path": "$..ok", "outcome": "success"}, {"status": 200, "outcome": "retry"})
    assert verdict(there, answer(200, b"{}")) == "retry"
