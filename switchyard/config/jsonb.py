"""What Postgres stores as jsonb, and every reason why it would not, by place."""

import json
import math
from collections.abc import Iterator
from typing import Any

from switchyard.config.problems import Path, Problem
from switchyard.errors import BadInput

LARGEST = 1024 * 1024
DEEPEST = 200


def jsonb(value: Any, field: str) -> str:
    """The value as Postgres takes it; BadInput that names the places where it cannot."""
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
        doubtful = _doubtful(text)
    except (TypeError, ValueError, RecursionError) as error:
        problems = unfit(value, field) or [Problem((field,), f"is no JSON: {error}")]
    else:
        problems = unfit(value, field) if doubtful else []
    if problems:
        raise BadInput("\n".join(str(problem) for problem in problems))
    return text


def _doubtful(text: str) -> bool:
    """Whether it needs the closer look: perhaps too large or too deep, or a NUL. Raises for surrogates."""
    deep = text.count("[") + text.count("{") > DEEPEST
    return len(text.encode()) > LARGEST // 2 or deep or "\\u0000" in text


def unfit(value: Any, field: str) -> list[Problem]:
    """What keeps a value from being stored as jsonb: its content, else its size."""
    problems = list(_inside(value, (field,)))
    size = 0 if problems else len(json.dumps(value, ensure_ascii=False).encode())
    if size > LARGEST:
        message = (
            f"{size} bytes of JSON, where {LARGEST} are allowed: put the data into the store, send its key"
        )
        return [Problem((field,), message)]
    return problems


def _inside(value: Any, path: Path) -> Iterator[Problem]:
    if len(path) > DEEPEST:
        yield Problem(path[:1], f"nested more than {DEEPEST} levels deep")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _text(key, path)
            yield from _inside(item, (*path, str(key)))
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from _inside(item, (*path, number))
    elif isinstance(value, str):
        yield from _text(value, path)
    else:
        yield from _scalar(value, path)


def _text(text: Any, path: Path) -> Iterator[Problem]:
    if not isinstance(text, str):
        yield Problem(path, "has a key that is no text")
    elif "\0" in text:
        yield Problem(path, "has a NUL character, which Postgres cannot store")
    elif any(0xD800 <= ord(character) <= 0xDFFF for character in text):
        yield Problem(path, "has half of a surrogate pair, which is no text")


def _scalar(value: Any, path: Path) -> Iterator[Problem]:
    if isinstance(value, float) and not math.isfinite(value):
        yield Problem(path, "is not a finite number, which JSON cannot hold")
    elif value is not None and not isinstance(value, bool | int | float):
        yield Problem(path, f"is a {type(value).__name__}, which JSON cannot hold")
