"""Reading a request's body: bounded in size and time, JSON or a form."""

import asyncio
import json
from typing import Any, NoReturn
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request

from signalbox.problem import HttpProblem

FORM = "application/x-www-form-urlencoded"
LISTS = ("jobs",)
LARGEST = 2 * 1024 * 1024
WITHIN = 30.0


async def read(request: Request) -> Any:
    """The parsed body; 400, 408, 413 or 415 if it cannot be read."""
    form = is_form(request)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not form and kind != "application/json" and not kind.endswith("+json"):
        raise HttpProblem(415, "the body must be application/json")
    content = await _content(request)
    try:
        if form:
            return _nested(parse_qsl(content.decode(), max_num_fields=10_100))
        return json.loads(content, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise HttpProblem(400, f"the body is not valid {'form data' if form else 'JSON'}") from None


def is_form(request: Request) -> bool:
    """Whether the body was sent by an HTML form."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == FORM


async def _content(request: Request) -> bytes:
    too_large = HttpProblem(413, f"the body is larger than {LARGEST} bytes", headers={"Connection": "close"})
    declared = request.headers.get("content-length", "0")
    if not declared.isdecimal() or int(declared[:20]) > LARGEST:
        raise too_large
    pieces, size = [], 0
    try:
        async with asyncio.timeout(WITHIN):
            async for piece in request.stream():
                size += len(piece)
                if size > LARGEST:
                    raise too_large
                pieces.append(piece)
    except TimeoutError:
        raise HttpProblem(408, f"the body did not arrive within {WITHIN:g} s") from None
    except ClientDisconnect:
        raise HttpProblem(400, "the body is incomplete") from None
    return b"".join(pieces)


def _nested(fields: list[tuple[str, str]]) -> dict[str, Any]:
    """Fields of a form as JSON has them: `filter.cause` is within `filter`, `filter.jobs` is a list."""
    found: dict[str, Any] = {}
    for name, value in fields:
        outer, dot, inner = name.partition(".")
        into = found.setdefault(outer, {}) if dot else found
        if not isinstance(into, dict):
            raise ValueError(name)  # noqa: TRY004 - a value that a client sent
        if inner in LISTS:
            into.setdefault(inner, []).append(value)
        else:
            into[inner if dot else outer] = value
    return found


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
