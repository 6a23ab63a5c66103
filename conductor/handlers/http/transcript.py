"""What was sent and what came back, as it is kept: headers redacted, bodies cut, no secret anywhere."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from conductor.handler import Work
from conductor.handlers.http.answer import Answer
from conductor.handlers.http.outgoing import Outgoing
from conductor.handlers.http.redact import masked, sensitive
from conductor.handlers.http.url import parse_url, shown
from switchyard.config.sandbox import as_json
from switchyard.runtime.redact import MASK


def transcript(
    work: Work,
    request: Outgoing,
    answer: Answer | None,
    *,
    error: str | None,
    began: float,
    seconds: float,
    cut: int,
) -> bytes:
    """One line of JSON."""
    record = {
        "version": 1,
        "action_uuid": str(work.uuid),
        "run": work.run,
        "attempt": work.attempt,
        "action_name": work.action_name,
        "at": datetime.fromtimestamp(began, UTC).isoformat(),
        "seconds": round(seconds, 6),
        "request": {
            "method": request.method,
            "url": request.shown_url,
            "headers": _headers(request.headers, request.private),
            **_body(request.shown_body, cut),
        },
        "response": None if answer is None else _answered(answer, cut),
        "error": error,
    }
    line = as_json(record)
    # Looking once at the whole is cheap. Only where a secret shows is each text masked by itself, because
    # masking the line could cut into its JSON.
    if masked(line, request.derived) != line:
        line = as_json(_each_masked(record, request.derived))
    return line.encode("utf-8", "replace")


def _answered(answer: Answer, cut: int) -> dict[str, Any]:
    told: dict[str, Any] = {
        "status": answer.status,
        "reason": answer.reason[:200],
        "headers": _headers(answer.headers, frozenset()),
        **_body(answer.body, cut),
    }
    if answer.fault is not None:
        told["fault"] = answer.fault
    if answer.hops:
        told["redirects"] = answer.hops
    return told


def _headers(headers: Mapping[str, str], private: frozenset[str]) -> dict[str, str]:
    return {name: MASK if name in private or sensitive(name) else _plain(name, value[:1000])
            for name, value in headers.items()}  # fmt: skip


def _plain(name: str, value: str) -> str:
    """A Location may carry a token in its query."""
    if name.lower() not in ("location", "content-location", "refresh", "link"):
        return value
    try:
        return shown(parse_url(value))
    except ValueError:
        return value.partition("?")[0]


def _body(body: bytes, cut: int) -> dict[str, Any]:
    if not body:
        return {"body": None}
    told: dict[str, Any] = {"body": body[:cut].decode("utf-8", "replace"), "bytes": len(body)}
    if len(body) > cut:
        told["cut"] = True
    return told


def _each_masked(value: Any, derived: list[str]) -> Any:
    if isinstance(value, str):
        return masked(value, derived)
    if isinstance(value, dict):
        return {key: _each_masked(item, derived) for key, item in value.items()}
    if isinstance(value, list):
        return [_each_masked(item, derived) for item in value]
    return value
