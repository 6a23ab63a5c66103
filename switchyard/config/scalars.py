"""Plain scalars as YAML 1.2's core schema has them: null, booleans, numbers, everything else a text."""

import math
import re
from typing import Any

_TAG = "tag:yaml.org,2002:"
merge_tag = _TAG + "merge"

_INT = r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+"
_FLOAT = r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
_RULES = (
    (_TAG + "bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    (_TAG + "int", _INT, "-+0123456789"),
    (_TAG + "float", _FLOAT, "-+.0123456789"),
    (_TAG + "null", r"~|null|Null|NULL|", "~nN"),
    (merge_tag, r"<<", "<"),
)


def _resolvers() -> dict[str, list[tuple[str, re.Pattern[str]]]]:
    table: dict[str, list[tuple[str, re.Pattern[str]]]] = {"": [(_TAG + "null", re.compile(r"(?:)\Z"))]}
    for tag, pattern, firsts in _RULES:
        for first in firsts:
            table.setdefault(first, []).append((tag, re.compile(rf"(?:{pattern})\Z")))
    return table


CORE = _resolvers()


def scalar_value(tag: str, text: str) -> Any:
    """The value of a scalar; a ValueError where text and tag do not go together."""
    kind = tag.removeprefix(_TAG)
    if kind in {"str", "!"}:
        return text
    if kind == "null":
        return None
    if kind == "bool" and text.lower() in {"true", "false"}:
        return text.lower() == "true"
    if kind == "int":
        return _integer(text)
    if kind == "float":
        return _number(text)
    raise ValueError("tags are not allowed here: write the value alone")


def _integer(text: str) -> int:
    if len(text) > 40 or not re.fullmatch(_INT, text, re.ASCII):
        raise ValueError("this is not a number that can be used")
    return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))


def _number(text: str) -> float:
    lower = text.lower().lstrip("+-")
    if len(text) > 400 or not re.fullmatch(_FLOAT, text, re.ASCII):
        raise ValueError("this is not a number that can be used")
    if lower in {".inf", ".nan"} or math.isinf(float(text)):
        raise ValueError("this number is not finite")
    return float(text)
