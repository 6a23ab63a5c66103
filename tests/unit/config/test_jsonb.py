"""What goes into a jsonb column, and how the rest is refused."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from switchyard.config.jsonb import DEEPEST, LARGEST, jsonb, unfit
from switchyard.errors import BadInput

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just("\\u0000"),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(plain)
def test_what_has_no_problem_is_written_and_nothing_else_is(value: Any) -> None:
    """The quick look and the close one agree."""
    if unfit(value, "parameters"):
        with pytest.raises(BadInput):
            jsonb(value, "parameters")
    else:
        assert json.loads(jsonb(value, "parameters")) == value


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"a": ["b\0"]}, "parameters.a[0]: has a NUL"),
        ({"a": "\ud800"}, "parameters.a: has half of a surrogate"),
        ({"a": float("inf")}, "parameters.a: is not a finite"),
        ({"a": {1}}, "parameters.a: is a set"),
        ({"a": "x" * LARGEST}, "parameters: 1048585 bytes"),
        ({("a",): 1}, "parameters: has a key that is no text"),
        (json.loads("[" * (DEEPEST + 1) + "]" * (DEEPEST + 1)), "parameters: nested more than"),
    ],
)
def test_a_refusal_names_the_place(value: Any, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        jsonb(value, "parameters")
    assert str(refused.value).startswith(said)
