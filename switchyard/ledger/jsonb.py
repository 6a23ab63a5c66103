"""JSON as Postgres stores it in jsonb: one walk over a value, with one limit of depth and one of size.

The walk returns the value with everything replaced that jsonb cannot hold, and a problem for each place that
was replaced. `encode` refuses a value that has problems, for what a caller submits; `repair` ignores them,
for what a handler or a backend reported, which must be recorded whatever it holds.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

from switchyard.config.problems import Path, Problem
from switchyard.errors import BadInput

DEEPEST = 200  # arrays and objects inside each other: well before the stacks of Python and Postgres end
LARGEST = 1024 * 1024  # bytes
LONGEST_NUMBER = 4_300  # digits: Python reads and writes no longer ones
_TOO_LONG = 10**LONGEST_NUMBER
_LARGE = 2**63  # numbers below it need no closer look
_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def encode(value: Any, field: str) -> str:
    """The value as JSON text; BadInput names the places that jsonb cannot hold."""
    text, problems = examine(value, field)
    if problems:
        raise BadInput("\n".join(str(problem) for problem in problems))
    return text


def examine(value: Any, field: str) -> tuple[str, list[Problem]]:
    """The value as JSON text, and why jsonb cannot hold it: its content, else its size."""
    found: list[Problem] = []
    text = _JSON.encode(_walk(value, (field,), found))
    size = 0 if found else len(text.encode())
    if size > LARGEST:
        message = (
            f"{size} bytes of JSON; at most {LARGEST} are allowed: put the data into the store, send its key"
        )
        found.append(Problem((field,), message))
    return text, list(dict.fromkeys(found))


def repair(value: Any) -> str:
    """JSON text that jsonb accepts, for any value; only values nested too deeply are cut."""
    return _JSON.encode(_walk(value, ("",), []))


def repaired_text(text: str) -> str:
    """The text without the characters that Postgres cannot store."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def _walk(value: Any, path: Path, found: list[Problem]) -> Any:
    """The value as jsonb can hold it; each replacement is noted in `found`."""
    if isinstance(value, Mapping):
        if len(path) > DEEPEST:
            return _too_deep(path, found)
        return {_key(key, path, found): _item(item, key, path, found) for key, item in value.items()}
    if isinstance(value, list | tuple):
        if len(path) > DEEPEST:
            return _too_deep(path, found)
        return [_item(item, number, path, found) for number, item in enumerate(value)]
    return _scalar(value, path, found)


def _item(value: Any, name: Any, path: Path, found: list[Problem]) -> Any:
    """One member of an array or object. Most are plain: those are decided here, without making a path."""
    kind = type(value)
    if kind is str and value.isascii() and "\0" not in value:
        return value
    if (kind is float and -_LARGE < value < _LARGE) or (kind is int and -_LARGE < value < _LARGE):
        return value
    if value is None or kind is bool:
        return value
    return _walk(value, (*path, name if isinstance(name, int) else str(name)), found)


def _too_deep(path: Path, found: list[Problem]) -> str:
    found.append(Problem(path[:1], f"nested more than {DEEPEST} levels deep"))
    return "…"


def _scalar(value: Any, path: Path, found: list[Problem]) -> Any:
    if isinstance(value, str):
        return _text(value, path, found)
    if value is None or isinstance(value, bool | int | float):
        return _number(value, path, found)
    return _foreign(value, path, found)


def _key(key: Any, path: Path, found: list[Problem]) -> str:
    if isinstance(key, str):
        return _text(key, path, found)
    found.append(Problem(path, "has a key that is not a string"))
    return repaired_text(str(key))


def _text(text: str, path: Path, found: list[Problem]) -> str:
    if text.isascii() and "\0" not in text:
        return text
    if "\0" in text:
        found.append(Problem(path, "has a NUL character, which Postgres cannot store"))
    elif any("\ud800" <= character <= "\udfff" for character in text):
        found.append(Problem(path, "has half of a surrogate pair, which is not valid text"))
    return repaired_text(text)


def _number(value: float | None, path: Path, found: list[Problem]) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        found.append(Problem(path, "is not a finite number, which JSON cannot hold"))
        return str(value)
    if isinstance(value, int) and abs(value) >= _TOO_LONG:
        found.append(Problem(path, f"is a number of more than {LONGEST_NUMBER} digits"))
        return f"a number of more than {LONGEST_NUMBER} digits"
    return value


def _foreign(value: Any, path: Path, found: list[Problem]) -> Any:
    """What only Python has. A set is recorded as a list, anything else as its text."""
    found.append(Problem(path, f"is a {type(value).__name__}, which JSON cannot hold"))
    return _walk(list(value), path, []) if isinstance(value, set | frozenset) else repaired_text(str(value))
