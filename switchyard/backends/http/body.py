"""Taking a body that somebody else sends: at most so many bytes, on the wire and unpacked."""

import zlib

from aiohttp import StreamReader

CHUNK = 64 * 1024
_WINDOWS = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}


async def take(content: StreamReader, limit: int, into: bytearray) -> bool:
    """Read into `into` up to `limit` bytes; whether that was all. If it breaks off, what was read stays."""
    if content.is_eof():  # all of it came with the head, as short answers do
        into += content.read_nowait()
    while not content.at_eof() and len(into) <= limit:
        into += await content.read(min(CHUNK, limit + 1 - len(into)))
    whole = len(into) <= limit
    del into[limit:]
    return whole


def unpacked(data: bytes, encoding: str, limit: int) -> tuple[bytes, str | None]:
    """The body without its Content-Encoding, at most `limit` bytes; and why that is not all, where it is not.

    We ask for no encoding, so this is for servers that pack all the same. One layer is taken off.
    """
    name = encoding.strip().lower()
    if name in ("", "identity") or not data:
        return data, None
    if name not in _WINDOWS:
        return data, f"the body is packed as {name[:40]!r}, which was not asked for"
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
