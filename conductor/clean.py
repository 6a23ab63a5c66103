"""Texts and details made fit for Postgres: no NUL, no lone surrogates, only what jsonb takes, bounded."""

import json
import math
from collections.abc import Mapping
from typing import Any

LONGEST_ERROR = 8_192
LONGEST_DETAIL = 65_536
DEEPEST = 64
_CUT = " […]"


def text(value: str, longest: int = LONGEST_ERROR) -> str:
    """The text without what a Postgres text cannot hold, cut to a length."""
    clean = value.replace("\0", "�").encode("utf-8", "replace").decode("utf-8")
    return clean if len(clean) <= longest else clean[: longest - len(_CUT)] + _CUT


def detail(value: Mapping[str, Any]) -> str | None:
    """The detail as JSON text that jsonb takes; None where there is nothing to say."""
    if not value:
        return None
    try:
        written = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        return _cleaned(value)
    return written if _is_clean(written) else _cleaned(value)


def _is_clean(written: str) -> bool:
    """Short and plain, as nearly every detail is: nothing in it can be too long, too deep, or no Unicode."""
    shallow = written.count("{") + written.count("[") <= DEEPEST
    return len(written) <= 1_024 and written.isascii() and shallow and "\\u0000" not in written


def _cleaned(value: Mapping[str, Any]) -> str:
    written = json.dumps(_plain(value, 0), ensure_ascii=False, allow_nan=False)
    if len(written) > LONGEST_DETAIL:
        return json.dumps({"cut": text(written, 1_024), "length": len(written)}, ensure_ascii=False)
    return written


def _plain(value: Any, depth: int) -> Any:
    if value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if depth > DEEPEST:
        return "…"
    if isinstance(value, Mapping):
        return {text(str(key), 1_024): _plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item, depth + 1) for item in value]
    return text(str(value), LONGEST_DETAIL)
