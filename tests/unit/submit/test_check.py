"""A submission is refused by the field that is wrong."""

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from switchyard.config import Config, Problem
from switchyard.errors import BadInput
from switchyard.submit import Submission
from switchyard.submit.check import accept, problems_of
from tests.unit.config.reading import read

CONFIG: Config = read("""
    actions: {hook: {type: http, request: {url: 'https://a.example'}}, argo: {type: argo, namespace: n}}
    workflows:
      nutrient:
        action: argo
        template: t
        input_schema:
          type: object
          properties: {site: {type: string}, sizes: {type: array, items: {type: number}}}
          required: [site]
""")
GOOD = {"site": "a"}


def problems(
    action_name: str | None, workflow: str | None, parameters: Any, callbacks: Any = None
) -> list[Problem]:
    return problems_of(Submission(action_name, parameters, workflow, callbacks=callbacks), CONFIG)


def fields(*arguments: Any, **more: Any) -> list[tuple[str, str]]:
    return [(problem.dotted, problem.message) for problem in problems(*arguments, **more)]


def test_what_is_right_has_no_problems() -> None:
    assert fields(None, "nutrient", GOOD) == []
    assert fields("argo", "nutrient", GOOD) == []
    assert fields("hook", None, {}) == []


@pytest.mark.parametrize(
    ("action_name", "workflow", "field", "said"),
    [
        (None, None, "action_name", "is missing"),
        ("hok", None, "action_name", "there is no action 'hok' (did you mean 'hook'?)"),
        ("argo", None, "workflow", "'argo' is of type argo, which runs workflows"),
        (None, "nutriment", "workflow", "did you mean 'nutrient'?"),
        ("hook", "nutrient", "action_name", "leave it out, or give 'argo'"),
        ("a\0b", None, "action_name", "NUL"),
        ("a\ud800", None, "action_name", "surrogate"),
        ("x" * 100_000, None, "action_name", "must have 1 to 500 characters"),
    ],
)
def test_names(action_name: str | None, workflow: str | None, field: str, said: str) -> None:
    ((dotted, message),) = fields(action_name, workflow, GOOD)
    assert dotted == field
    assert said in message
    assert len(message) < 300


@pytest.mark.parametrize(
    ("parameters", "field", "said"),
    [
        ([], "parameters", "must be a JSON object"),
        (None, "parameters", "must be a JSON object"),
        ({"site": "a\0b"}, "parameters.site", "NUL"),
        ({"site": "a", "k\0": 1}, "parameters", "NUL"),
        ({"site": "\ud800"}, "parameters.site", "surrogate"),
        ({"site": "a", "x": float("nan")}, "parameters.x", "finite"),
        ({"site": "a", "x": {1, 2}}, "parameters.x", "is a set"),
        ({"site": "a", 1: 2}, "parameters", "key that is not a string"),
        ({"site": "x" * 1024 * 1024}, "parameters", "bytes of JSON"),
        ({}, "parameters", "'site' is a required property"),
        ({"site": 5}, "parameters.site", "5 is not of type 'string'"),
        ({"site": "a", "sizes": [1, "b"]}, "parameters.sizes[1]", "'b' is not of type 'number'"),
    ],
)
def test_parameters(parameters: Any, field: str, said: str) -> None:
    ((dotted, message),) = fields(None, "nutrient", parameters)
    assert dotted == field
    assert said in message


def test_one_mebibyte_is_allowed_and_a_byte_more_is_not() -> None:
    room = 1024 * 1024 - len('{"site": ""}')
    assert fields(None, "nutrient", {"site": "x" * room}) == []
    assert fields(None, "nutrient", {"site": "x" * (room + 1)}) != []


def test_depth_is_bounded() -> None:
    deep: Any = "x"
    for _ in range(100_000):
        deep = [deep]
    ((field, message),) = fields("hook", None, {"a": deep})
    assert field == "parameters"
    assert "levels deep" in message


def test_all_problems_show_at_once() -> None:
    found = fields("hook", "nutrient", {"site": 1}, callbacks=[{"name": "c", "action": "hok"}])
    assert [field for field, _ in found] == ["action_name", "parameters.site", "callbacks[0].action"]


@pytest.mark.parametrize(
    ("callbacks", "field", "said"),
    [
        ("x", "callbacks", "must be a list"),
        ([{"name": "c"}], "callbacks[0].action", "is missing"),
        ([{"name": "c", "action": "hook", "wen": []}], "callbacks[0].wen", "did you mean 'when'?"),
        ([{"name": "c", "action": "argo"}], "callbacks[0].action", "runs workflows"),
        ([{"name": "c", "action": "argo", "workflow": "x"}], "callbacks[0].workflow", "no workflow 'x'"),
        (
            [{"name": "c", "action": "hook", "parameters": {"a": {"value": "\0"}}}],
            "callbacks[0].parameters.a.value",
            "NUL",
        ),
    ],
)
def test_callbacks_of_one_action(callbacks: Any, field: str, said: str) -> None:
    ((dotted, message),) = fields("hook", None, {}, callbacks=callbacks)
    assert dotted == field
    assert said in message


def test_good_callbacks_of_one_action() -> None:
    assert fields("hook", None, {}, callbacks=[{"name": "c", "action": "hook", "when": ["failed"]}]) == []


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=20,
)


@given(st.none() | st.text(), st.none() | st.text() | st.just("nutrient"), anything, anything)
def test_any_submission_is_judged(
    action_name: str | None, workflow: str | None, one: Any, other: Any
) -> None:
    assert all(problem.message for problem in problems(action_name, workflow, one, other))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"after": "0197a0f3"}, "after: must be a list of UUIDs"),
        ({"after": ["0197a0f3"]}, "after: must be a list of UUIDs"),
        ({"after": [UUID(int=7)] * 1001}, "after: must have at most 1000 actions, not 1001"),
        ({"after": [UUID(int=7)], "after_policy": "good"}, "after_policy: must be successful or ended"),
        ({"after_policy": "ended"}, "after_policy: is for actions that wait"),
    ],
)
def test_what_cannot_be_waited_for_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        accept(Submission("noop", **fields))
