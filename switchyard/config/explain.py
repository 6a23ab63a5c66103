"""Explains validation errors: what is wrong at a path, and what to write instead.

An input is shown only if it is one word of a closed set; a secret never is.
"""

from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from switchyard.config.problems import Path, Problem, nearest
from switchyard.config.published import WRITTEN, Schema, schema_at


def explain(error: ValidationError, data: Any, under: Path = ()) -> Iterator[Problem]:
    """One problem for each error, at the path that the data has for it; `under` is where validation began."""
    found = [(details, _path((*under, *details["loc"]), data)) for details in error.errors(include_url=False)]
    for details, path in found:
        below = any(path == other[: len(path)] != other for _, other in found)
        if not _only_follows(details["type"], below):
            yield Problem(path, _message(details, path, data))


def _only_follows(kind: str, below: bool) -> bool:
    """Whether it only follows from another error.

    pydantic counts what is left of a list once the bad items are out of it, and makes no default from a field
    that is bad.
    """
    return kind == "default_factory_not_called" or (kind == "too_short" and below)


def _path(loc: tuple[int | str, ...], data: Any) -> Path:
    """The location without pydantic's own marks, such as the member of a union."""
    path: list[int | str] = []
    for index, part in enumerate(loc):
        inside = isinstance(data, dict) and part in data
        within = isinstance(data, list) and isinstance(part, int) and part < len(data)
        if inside or within:
            path.append(part)
            data = data[part]
        elif index == len(loc) - 1 and part != "[key]":
            path.append(part)
    return tuple(path)


def _message(details: ErrorDetails, path: Path, data: Any) -> str:
    kind = details["type"]
    if kind in {"missing", "extra_forbidden", "string_pattern_mismatch"}:
        return _from_schema(kind, path, data)
    if kind == "literal_error":
        return _not_one_of(details)
    if kind in {"value_error", "assertion_error"}:
        return str(details.get("ctx", {}).get("error", details["msg"]))
    if kind in _BOUNDS:
        return _bound(details, schema_at(path, data))
    said = _FORMS.get(kind, details["msg"])
    return said.replace("Input should be", "must be").replace("Input should", "must")


_MAPPING = "must be a mapping, written as `key: value` lines"
_LIST = "must be a list, written as `[a, b]` or as lines that start with `- `"
_FORMS = {
    "model_type": _MAPPING,
    "dict_type": _MAPPING,
    "mapping_type": _MAPPING,
    "tuple_type": _LIST,
    "list_type": _LIST,
    "too_short": "must not be empty",
    "finite_number": "must be a finite number",
}


_BOUNDS = {
    "greater_than_equal": ("ge", "at least"),
    "greater_than": ("gt", "more than"),
    "less_than_equal": ("le", "at most"),
    "less_than": ("lt", "less than"),
}


def _bound(details: ErrorDetails, schema: Schema) -> str:
    name, words = _BOUNDS[details["type"]]
    bound = details.get("ctx", {}).get(name)
    write = WRITTEN.get(schema.get("pattern", ""), str)
    return f"must be {words} {write(bound)}"


def _from_schema(kind: str, path: Path, data: Any) -> str:
    if kind == "extra_forbidden":
        return _unknown_key(path, data)
    schema = schema_at(path, data)
    return f"is missing{_what(schema)}" if kind == "missing" else f"is not written right{_example(schema)}"


def _unknown_key(path: Path, data: Any) -> str:
    known = sorted(schema_at(path[:-1], data).get("properties", {}))
    near = nearest(str(path[-1]), known)
    return f"unknown key{near or _listed(known)}"


def _listed(known: list[str]) -> str:
    return f"; there are {', '.join(known)}" if known else ""


def _not_one_of(details: ErrorDetails) -> str:
    expected = str(details.get("ctx", {}).get("expected", ""))
    words = [word.strip(" '") for word in expected.replace(" or ", ",").split(",")]
    written = details["input"]
    return f"must be {expected}{nearest(written, words) if isinstance(written, str) else ''}"


def _what(schema: Schema) -> str:
    said = str(schema.get("description", "")).strip().rstrip(".")
    return f" ({said[:1].lower()}{said[1:]}){_example(schema)}" if said else _example(schema)


def _example(schema: Schema) -> str:
    examples = schema.get("examples") or []
    if examples:
        return f": write it like {' or '.join(str(example) for example in examples)}"
    return f": it must match {schema['pattern']}" if "pattern" in schema else ""
