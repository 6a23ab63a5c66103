"""The response: status, headers, a bounded part of the body, and Retry-After."""

import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from aiohttp import StreamReader


class NoJsonError(ValueError):
    """The body is not JSON, or is incomplete."""


_UNREAD = object()


@dataclass(slots=True)
class Answer:
    """One response. `fault` says why its body is incomplete; its status is valid nevertheless."""

    status: int
    reason: str
    headers: Mapping[str, str]
    body: bytes = b""
    fault: str | None = None
    hops: list[str] = field(default_factory=list)  # targets of redirects, in their displayable form
    _parsed: Any = _UNREAD

    @property
    def text(self) -> str:
        """The body as text; invalid UTF-8 is replaced, so that rules can still match the rest."""
        return self.body.decode("utf-8", "replace")

    @property
    def document(self) -> Any:
        """The body as JSON, parsed once; raises NoJsonError if it is not JSON."""
        if self._parsed is _UNREAD:
            self._parsed = self._read()
        if isinstance(self._parsed, NoJsonError):
            raise self._parsed
        return self._parsed

    def _read(self) -> Any:
        if self.fault is not None:
            return NoJsonError(self.fault)
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):  # also numbers with thousands of digits, and invalid Unicode
            return NoJsonError("the body is not JSON")


CHUNK = 64 * 1024
_WINDOWS = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}


async def take(content: StreamReader, limit: int, into: bytearray) -> bool:
    """Read up to `limit` bytes into `into`; returns whether that was all. Errors leave what was read."""
    if content.is_eof():  # it arrived with the head, as short bodies do
        into += content.read_nowait()
    while not content.at_eof() and len(into) <= limit:
        into += await content.read(min(CHUNK, limit + 1 - len(into)))
    whole = len(into) <= limit
    del into[limit:]
    return whole


def unpacked(data: bytes, encoding: str, limit: int) -> tuple[bytes, str | None]:
    """The decompressed body, at most `limit` bytes, and the reason if it is incomplete.

    We request no encoding, so this is for servers that compress regardless. Only one layer is decompressed.
    """
    name = encoding.strip().lower()
    if name in ("", "identity") or not data:
        return data, None
    if name not in _WINDOWS:
        return data, f"the body is encoded as {name[:40]!r}, which was not requested"
    unpacker = zlib.decompressobj(_WINDOWS[name])
    try:
        result = unpacker.decompress(data, limit)
    except zlib.error:
        return b"", f"the body is not the {name} that it is said to be"
    if unpacker.unconsumed_tail:
        return result, f"the body unpacks to more than {limit} bytes"
    if not unpacker.eof:
        return result, "the packed body ends too soon"
    return result, None


_SECONDS = re.compile(r"[0-9]{1,10}")
_LONGEST_DATE = 64


def retry_after(value: str, now: datetime) -> float | None:
    """The seconds to wait, never negative; None if the value is in neither format."""
    text = value.strip()
    if _SECONDS.fullmatch(text):
        return float(text)
    if len(text) > _LONGEST_DATE:
        return None
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    if at.tzinfo is None:  # asctime dates have no zone and mean UTC
        at = at.replace(tzinfo=UTC)
    return max(0.0, (at - now).total_seconds())
