"""Objects of the store as answers: streamed in pieces, whole or in part (RFC 9110, ranges)."""

import asyncio
import mimetypes
import re
from collections.abc import AsyncIterator
from pathlib import PurePosixPath
from typing import BinaryIO

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from signalbox.problem import HttpProblem, not_found
from switchyard.store import Store

PIECE = 256 * 1024
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")
# Files of workflows are untrusted: they are shown without scripts, forms and external addresses, or saved.
SANDBOX = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
SHOWN = ("text/html", "text/plain", "image/png", "image/jpeg", "application/json", "application/geo+json")


async def send(store: Store, key: str, request: Request, name: str | None = None) -> Response:
    """The object under a key, or the requested range of it."""
    size = await asyncio.to_thread(store.size, key)
    if size is None:
        raise not_found("the object store has no such file")
    first, last = _wanted(request.headers.get("range"), size)
    kind = _kind(name or PurePosixPath(key).name)
    headers = {
        "Accept-Ranges": "bytes",
        "Content-Length": str(last - first + 1),
        "Content-Security-Policy": SANDBOX,
        "X-Frame-Options": "SAMEORIGIN",
        "Content-Disposition": "inline" if kind.partition(";")[0] in SHOWN else "attachment",
    }
    partial = last - first + 1 != size
    if partial:
        headers["Content-Range"] = f"bytes {first}-{last}/{size}"
    if request.method == "HEAD":
        return Response(None, 206 if partial else 200, headers, kind)
    file = await asyncio.to_thread(store.open, key)
    return StreamingResponse(_pieces(file, first, last), 206 if partial else 200, headers, kind)


def _wanted(header: str | None, size: int) -> tuple[int, int]:
    """First and last byte; those of the whole object unless a single range is requested."""
    found = _RANGE.fullmatch(header or "")
    if found is None or found[0] == "bytes=-":
        return 0, size - 1
    first, last = found[1], found[2]
    if not first:
        begin, end = max(0, size - int(last)), size - 1
    else:
        begin, end = int(first), min(int(last) if last else size - 1, size - 1)
    if begin > end:
        raise HttpProblem(416, f"there are {size} bytes", headers={"Content-Range": f"bytes */{size}"})
    return begin, end


async def _pieces(file: BinaryIO, first: int, last: int) -> AsyncIterator[bytes]:
    try:
        await asyncio.to_thread(file.seek, first)
        left = last - first + 1
        while left > 0:
            piece = await asyncio.to_thread(file.read, min(PIECE, left))
            if not piece:
                return
            left -= len(piece)
            yield piece
    finally:
        await asyncio.to_thread(file.close)


def _kind(name: str) -> str:
    if name.endswith((".geojson", ".json")):
        return "application/geo+json" if name.endswith(".geojson") else "application/json"
    guessed = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return f"{guessed}; charset=utf-8" if guessed.startswith("text/") else guessed
