"""Texts and documents made fit for Postgres: no NUL, no lone surrogates, JSON that jsonb takes.

`document` keeps all that it is given, for what others rely on, like the parameters of a callback. `detail` is
bounded, for what an event says to people. Depth ends alike in both, where that of a submission does, and
well before the stacks of Python and Postgres end.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

LONGEST_TEXT = 8_192
LONGEST_DETAIL = 65_536
DEEPEST = 200
_CUT = " […]"
_SHORT = 1_024
_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def text(value: str, longest: int = LONGEST_TEXT) -> str:
    """The text without what a Postgres text cannot hold, cut to a length."""
    fit = _fit(value)
    return fit if len(fit) <= longest else fit[: longest - len(_CUT)] + _CUT


def document(value: Any) -> str:
    """JSON text that jsonb takes, whatever the value holds; nothing in it is cut but endless depth."""
    return _JSON.encode(_plain(value, 0))


def detail(value: Mapping[str, Any]) -> str | None:
    """The same for an event's detail: None where there is nothing to say, cut where it is too long."""
    if not value:
        return None
    try:
        written = _JSON.encode(value)
    except (ValueError, TypeError, RecursionError):
        return _cut(document(value))
    return written if _is_clean(written) else _cut(document(value))


def _is_clean(written: str) -> bool:
    """Short and plain, as nearly every detail is: nothing in it can be too long, too deep, or no Unicode."""
    shallow = written.count("{") + written.count("[") <= DEEPEST
    return len(written) <= _SHORT and written.isascii() and shallow and "\\u0000" not in written


def _cut(written: str) -> str:
    if len(written) <= LONGEST_DETAIL:
        return written
    return _JSON.encode({"cut": text(written, _SHORT), "length": len(written)})


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
