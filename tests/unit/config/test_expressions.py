"""Expressions of the configuration: whatever somebody writes is an expression, or a ValueError with the reason."""

import re

import pytest

from switchyard.config.expressions import check_path, compile_path, compile_regex


@pytest.mark.parametrize(
    "text", ["$.a | $.b", "$.a.~b", "$.a[?(@.b =~ /x/)]", "$.a[?@.b contains 'x']", "$.a[?@.b == undefined]"]
)
def test_what_rfc_9535_does_not_have_is_refused(text: str) -> None:
    """Extensions of the library would make a configuration that only this library reads."""
    with pytest.raises(ValueError, match="the JSONPath does not parse: "):
        check_path(text)


@pytest.mark.parametrize(
    "text", ["$[?" + "(" * 5000 + "@.a" + ")" * 5000 + "]", "$[?" + "!" * 20000 + "@.a]", "$['a"]
)
def test_a_path_that_cannot_be_compiled_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="the JSONPath does not parse: "):
        compile_path(text)


def test_of_a_long_reason_the_first_200_characters_are_shown() -> None:
    with pytest.raises(ValueError, match="the JSONPath does not parse: ") as refused:
        compile_path("$[?" + "a" * 1000 + "()]")
    assert len(str(refused.value)) == len("the JSONPath does not parse: ") + 200


@pytest.mark.parametrize("text", ["a.b", "", " $.a", "@.a"])
def test_a_path_starts_at_the_root(text: str) -> None:
    with pytest.raises(ValueError, match=r"a JSONPath starts with \$"):
        check_path(text)


@pytest.mark.parametrize(
    "text", ["(", "a{2,1}", "(" * 6000 + ")" * 6000, "a{99999999999999999999}", "(?P<1>a)"]
)
def test_a_regular_expression_that_cannot_be_compiled_is_refused(text: str) -> None:
    """Mutation: each of the three errors that `re` raises."""
    with pytest.raises(ValueError, match="the regular expression does not compile: "):
        compile_regex(text)


@pytest.mark.parametrize("value", [5, None, ["a"], b"a"])
def test_a_regular_expression_is_a_text(value: object) -> None:
    with pytest.raises(ValueError, match="a regular expression is a text"):
        compile_regex(value)


def test_what_is_compiled_stays_as_it_is() -> None:
    compiled = re.compile("a", re.IGNORECASE)
    assert compile_regex(compiled) is compiled
    assert check_path("$.a") == "$.a"
    assert compile_path("$.a[*]").findall({"a": [1, 2]}) == [1, 2]
