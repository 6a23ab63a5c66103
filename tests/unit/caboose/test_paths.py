"""Which JSONPaths are evaluated in place, and that a bounded process finds the same."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caboose.complete.paths import is_cheap, locate, value_at
from caboose.complete.size import Sizes
from switchyard.config.callbacks import Callback
from switchyard.config.expressions import compile_path


def callback(**more: Any) -> Callback:
    return Callback.model_validate({"name": "done", "action": "hook", **more})


@pytest.mark.parametrize("path", ["$", "$.a", "$.a['b'][0]", "$.a[*].b", "$[1:3]", "$.*.*"])
def test_a_path_that_visits_the_document_once_is_cheap(path: str) -> None:
    assert is_cheap(callback(parameters={"x": {"path": path}}))
    assert is_cheap(callback(**{"for": "items", "items": path}))


@pytest.mark.parametrize("path", ["$..a", "$[?@.a]", "$[*,*]", "$['a','b']", "$.a[?match(@, 'x')]", "$[0,0]"])
def test_security_h3_a_path_whose_cost_can_explode_is_not_cheap(path: str) -> None:
    assert not is_cheap(callback(parameters={"x": {"path": path}}))
    assert not is_cheap(callback(**{"for": "items", "items": path}))


def test_security_h3_a_wildcard_for_each_item_is_not_cheap() -> None:
    each = {"for": "items", "items": "$.output.list[*]"}
    assert is_cheap(callback(**each, parameters={"x": {"path": "$.item.n"}}))
    assert not is_cheap(callback(**each, parameters={"x": {"path": "$.output.list[*]"}}))


JSON = st.recursive(
    st.none() | st.integers(0, 9) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=12,
)


@given(JSON, st.sampled_from(["$..a", "$.output[*,*]", "$.output[?@.a]", "$..[?@ == 3]", "$.output.b"]))
def test_what_the_child_locates_is_what_the_path_finds(output: Any, path: str) -> None:
    document = {"input": {}, "output": output, "workflow": {}}
    [[items, values, problem]] = locate([(None, [path])], json.dumps(document).encode())
    assert (items, problem) == ([None], None)
    assert [value_at(document, each) for each in values[0][0]] == compile_path(path).findall(document)


def test_too_many_matches_are_a_problem_of_their_callback_alone() -> None:
    document = json.dumps({"output": list(range(100))}).encode()
    many, few = locate([(None, ["$.output[*]"]), (None, ["$.output[0]"])], document, most=50)
    assert "too many" in many[2]
    assert few == [[None], [[[["output", 0]]]], None]


@given(JSON)
def test_the_measure_is_never_more_than_the_text(value: Any) -> None:
    assert Sizes().of(value, 10**6) <= len(json.dumps(value, separators=(",", ":"))) + 4 * _members(value)


def _members(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + sum(map(_members, value.values()))
    return 1 + sum(map(_members, value)) if isinstance(value, list) else 1


def test_a_large_value_is_measured_once_and_no_further_than_the_limit() -> None:
    large = ["x" * 1000] * 10_000
    sizes = Sizes()
    assert 5_000 < sizes.of(large, 5_000) < 50_000
    assert sizes.of(large, 5_000) == sizes.of(large, 5_000)
