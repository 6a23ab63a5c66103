"""Cleans texts and details for the ledger, so that reports of handlers and backends are always recorded.

`document` keeps all that it is given, for what others rely on, like the parameters of a callback. `detail`
has a limit of length, for what an event reports to people.
"""

import json
from collections.abc import Mapping
from typing import Any

from switchyard.ledger.jsonb import DEEPEST, repair, repaired_text

LONGEST_TEXT = 8_192
LONGEST_DETAIL = 65_536
_CUT = " […]"
_SHORT = 1_024
_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def text(value: str, longest: int = LONGEST_TEXT) -> str:
    """The text without what a Postgres text cannot hold, cut to a length."""
    fit = repaired_text(value)
    return fit if len(fit) <= longest else fit[: longest - len(_CUT)] + _CUT


def document(value: Any) -> str:
    """JSON text that jsonb accepts, for any value; only values nested too deeply are cut."""
    return repair(value)


def detail(value: Mapping[str, Any]) -> str | None:
    """The same for an event's detail: None where it is empty, cut where it is too long."""
    if not value:
        return None
    try:
        written = _JSON.encode(value)
    except (ValueError, TypeError, RecursionError):
        return _cut(repair(value))
    return written if _is_clean(written) else _cut(repair(value))


def _is_clean(written: str) -> bool:
    """Short and plain, as nearly every detail is: it cannot be too long, too deep, or invalid Unicode."""
    shallow = written.count("{") + written.count("[") <= DEEPEST
    return len(written) <= _SHORT and written.isascii() and shallow and "\\u0000" not in written


def _cut(written: str) -> str:
    if len(written) <= LONGEST_DETAIL:
        return written
    return _JSON.encode({"cut": text(written, _SHORT), "length": len(written)})
