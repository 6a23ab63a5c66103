"""What goes into a jsonb column, and how the rest is refused."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from switchyard.errors import BadInput
from switchyard.ledger.jsonb import DEEPEST, LARGEST, encode, examine, repair

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just("\\u0000"),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(plain)
def test_what_has_no_problem_is_written_and_nothing_else_is(value: Any) -> None:
    """A value without problems is stored unchanged; any other is refused."""
    if examine(value, "parameters")[1]:
        with pytest.raises(BadInput):
            encode(value, "parameters")
    else:
        assert json.loads(encode(value, "parameters")) == value


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"a": ["b\0"]}, "parameters.a[0]: has a NUL"),
        ({"a": "\ud800"}, "parameters.a: has half of a surrogate"),
        ({"a": float("inf")}, "parameters.a: is not a finite"),
        ({"a": {1}}, "parameters.a: is a set"),
        ({"a": "x" * LARGEST}, "parameters: 1048585 bytes"),
        ({("a",): 1}, "parameters: has a key that is not a string"),
        (json.loads("[" * (DEEPEST + 1) + "]" * (DEEPEST + 1)), "parameters: nested more than"),
    ],
)
def test_a_refusal_names_the_place(value: Any, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        encode(value, "parameters")
    assert str(refused.value).startswith(said)


def test_the_deepest_value_is_stored_and_one_level_more_is_not() -> None:
    """A number or a string inside the innermost list is not a level."""
    deepest = json.loads("[" * DEEPEST + "1" + "]" * DEEPEST)
    assert json.loads(encode(deepest, "parameters")) == deepest
    assert json.loads(repair(deepest)) == deepest
    assert repair([deepest]) == "[" * DEEPEST + '"…"' + "]" * DEEPEST
    objects: Any = 1
    for _ in range(DEEPEST + 1):
        objects = {"a": objects}
    assert repair(objects).count("{") == DEEPEST


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        ({"a": "x\0y", "k\0": 1}, {"a": "x\ufffdy", "k\ufffd": 1}),
        ({"a": "\ud800"}, {"a": "?"}),
        ({"a": [float("inf"), float("nan")]}, {"a": ["inf", "nan"]}),
        ({"a": 10**5000, "b": -(10**5000)}, dict.fromkeys("ab", "a number of more than 4300 digits")),
        ({"a": 10**4299}, {"a": 10**4299}),
        ({1: {2}, "b": b"c"}, {"1": [2], "b": "b'c'"}),
        ({"a": "x" * LARGEST}, {"a": "x" * LARGEST}),
    ],
)
def test_a_repair_replaces_what_cannot_be_stored_and_nothing_else(value: Any, stored: Any) -> None:
    assert json.loads(repair(value)) == stored


@pytest.mark.parametrize("sign", [1, -1])
def test_a_number_that_python_cannot_read_back_is_refused(sign: int) -> None:
    with pytest.raises(BadInput, match=r"^parameters\.a: is a number of more than 4300 digits"):
        encode({"a": sign * 10**4300}, "parameters")
