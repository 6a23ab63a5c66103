"""Texts and documents made fit for Postgres: no NUL, no lone surrogates, JSON that jsonb takes."""

import json
import math
from collections.abc import Mapping
from typing import Any

LONGEST_TEXT = 8_192
DEEPEST = 500
_CUT = " […]"


def text(value: str, longest: int = LONGEST_TEXT) -> str:
    """The text without what a Postgres text cannot hold, cut to a length."""
    fit = _fit(value)
    return fit if len(fit) <= longest else fit[: longest - len(_CUT)] + _CUT


def document(value: Any) -> str:
    """JSON text that jsonb takes, whatever the value holds; nothing in it is cut but endless depth."""
    return json.dumps(_plain(value, 0), ensure_ascii=False, allow_nan=False)


def _fit(value: str) -> str:
    return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def _plain(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return _fit(value)
    if value is None or isinstance(value, bool | int | float):
        return str(value) if isinstance(value, float) and not math.isfinite(value) else value
    if depth > DEEPEST:
        return "…"
    if isinstance(value, Mapping):
        return {_fit(str(key)): _plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item, depth + 1) for item in value]
    return _fit(str(value))
