"""Expressions that the configuration holds: JSONPath (RFC 9535) and regular expressions."""

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, PlainSerializer, PlainValidator, WithJsonSchema

if TYPE_CHECKING:
    from jsonpath import JSONPath


@lru_cache(maxsize=1024)
def compile_path(text: str) -> "JSONPath":
    """The compiled JSONPath; a ValueError explains what is wrong with it."""
    import jsonpath  # noqa: PLC0415 - a fifth of the time that the configuration's models take

    try:
        compiled = jsonpath.compile(text, strict=True)
    except (jsonpath.JSONPathError, RecursionError) as error:
        raise ValueError(f"the JSONPath does not parse: {_first_line(error)}") from None
    assert isinstance(compiled, jsonpath.JSONPath), "strict JSONPath has no compound operators"
    return compiled


def check_path(text: str) -> str:
    """The text itself, where it is a JSONPath."""
    if not text.startswith("$"):
        raise ValueError("a JSONPath starts with $, like $.output.summary")
    compile_path(text)
    return text


def compile_regex(value: object) -> re.Pattern[str]:
    """A regular expression of Python's `re`; a ValueError explains what is wrong with it."""
    if isinstance(value, re.Pattern):
        return value
    if not isinstance(value, str):
        raise ValueError("a regular expression is a text")  # noqa: TRY004 - pydantic collects ValueErrors
    try:
        return re.compile(value)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"the regular expression does not compile: {error}") from None


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


JsonPath = Annotated[
    str,
    AfterValidator(check_path),
    WithJsonSchema({"type": "string", "pattern": r"^\$", "examples": ["$.output.summary.n_total"]}),
]
Regex = Annotated[
    re.Pattern[str],
    PlainValidator(compile_regex),
    PlainSerializer(lambda pattern: pattern.pattern),
    WithJsonSchema({"type": "string", "format": "regex"}),
]
