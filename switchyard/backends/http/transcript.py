"""The stored form of request and response: headers redacted, bodies cut, secrets masked.

The line is assembled as text, because this runs for every delivery, and building a tree first takes longer
than signing and judging together.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from json.encoder import encode_basestring as quoted
from typing import Any

from switchyard.backends.http.answer import Answer
from switchyard.backends.http.redact import masked, sensitive
from switchyard.backends.http.request import OutgoingRequest
from switchyard.backends.http.url import parse_url, shown
from switchyard.config.sandbox import as_json
from switchyard.handlers import Work
from switchyard.process.redact import MASK

_LONGEST = 1000  # characters of one header
_HIDDEN = quoted(MASK)
_PLACES = frozenset({"location", "content-location", "refresh", "link"})


def transcript(
    work: Work,
    request: OutgoingRequest,
    answer: Answer | None,
    *,
    error: str | None,
    began: float,
    seconds: float,
    cut: int,
) -> bytes:
    """One line of JSON."""
    line = (
        f'{{"version":1,"action_uuid":"{request.uuid}","run":{work.run},"attempt":{work.attempt},'
        f'"action_name":{quoted(work.action_name)},"at":"{datetime.fromtimestamp(began, UTC).isoformat()}",'
        f'"seconds":{seconds:.6f},"request":{{"method":"{request.method}","url":{quoted(request.shown_url)},'
        f'"headers":{_headers(request.headers, request.private)},{_body(request.shown_body, cut)}}},'
        f'"response":{"null" if answer is None else _answered(answer, cut)},'
        f'"error":{"null" if error is None else quoted(error)}}}'
    )
    # Searching the whole line is cheap. Only if it contains a secret is each text masked separately, because
    # masking the line could break its JSON.
    if masked(line, request.derived) != line:
        line = as_json(_each_masked(json.loads(line), request.derived))
    return line.encode("utf-8", "replace")


def _answered(answer: Answer, cut: int) -> str:
    fault = "" if answer.fault is None else f',"fault":{quoted(answer.fault)}'
    hops = f',"redirects":{as_json(answer.hops)}' if answer.hops else ""
    return (
        f'{{"status":{answer.status},"reason":{quoted(answer.reason[:200])},'
        f'"headers":{_headers(answer.headers)},{_body(answer.body, cut)}{fault}{hops}}}'
    )


def _headers(headers: Mapping[str, str], private: frozenset[str] = frozenset()) -> str:
    shown: dict[str, str] = {}
    for name, value in headers.items():
        label, hidden, place = _label(name)
        if hidden or name in private:
            shown[label] = _HIDDEN
        else:
            shown[label] = quoted(_place(value) if place else value[:_LONGEST])
    return "{" + ",".join([f"{label}:{value}" for label, value in shown.items()]) + "}"


@lru_cache(maxsize=1024)
def _label(name: str) -> tuple[str, bool, bool]:
    """A header's name as JSON, whether its value is hidden, and whether the value is a URL."""
    lower = name.lower()
    return quoted(lower[:_LONGEST]), sensitive(lower), lower in _PLACES


def _place(value: str) -> str:
    """Mask the query of a URL, which may contain a token."""
    try:
        return shown(parse_url(value))
    except ValueError:
        return value.partition("?")[0][:_LONGEST]


def _body(body: bytes, cut: int) -> str:
    if not body:
        return '"body":null'
    text = quoted(body[:cut].decode("utf-8", "replace"))
    return f'"body":{text},"bytes":{len(body)}' + (',"cut":true' if len(body) > cut else "")


def _each_masked(value: Any, derived: list[str]) -> Any:
    if isinstance(value, str):
        return masked(value, derived)
    if isinstance(value, dict):
        return {key: _each_masked(item, derived) for key, item in value.items()}
    if isinstance(value, list):
        return [_each_masked(item, derived) for item in value]
    return value
