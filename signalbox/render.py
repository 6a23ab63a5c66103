"""A record as JSON or as a page."""

import hashlib
from typing import Any
from urllib.parse import quote

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from signalbox.access.authenticate import COOKIE
from signalbox.endpoint import Call
from signalbox.pages.environment import environment

JSON = "application/json"
PROBLEM = "application/problem+json"


def as_json(
    record: BaseModel, status: int, headers: dict[str, str], kind: str = JSON, request: Request | None = None
) -> Response:
    """The record as JSON, without fields that are None; 304 if the caller already has it."""
    content = record.model_dump_json(by_alias=True, exclude_none=True).encode()
    if request is None or request.method not in ("GET", "HEAD") or status != 200:
        return Response(content, status, headers, kind)
    tag = f'W/"{hashlib.sha256(content).hexdigest()[:32]}"'
    headers = {**headers, "ETag": tag, "Vary": "Accept, Authorization, Cookie"}
    known = {each.strip() for each in request.headers.get("if-none-match", "").split(",")}
    if known & {tag, tag.removeprefix("W/"), "*"}:
        return Response(status_code=304, headers=headers)
    return Response(content, status, headers, kind)


def as_page(call: Call, template: str, record: Any, parts: dict[str, Any], status: int) -> Response:
    """The template of that name, rendered with the record."""
    text = environment().get_template(f"{template}.html").render(**context(call, record, parts))
    return Response(text, status, call.headers, "text/html; charset=utf-8")


def context(call: Call, record: Any, parts: dict[str, Any]) -> dict[str, Any]:
    """The variables of a template."""
    path = call.request.url.path.removeprefix(call.site.base_path)
    query = call.request.url.query
    shown = f"{path}?{query}" if query else path
    return {
        "record": record,
        "parts": parts,
        "caller": call.caller,
        "counts": call.counts,
        "signed_in": COOKIE in call.request.cookies,
        "path": shown,
        "url": call.url,
        "now": call.now,
        "stream": call.url(f"/stream?path={quote(shown)}"),
    }
