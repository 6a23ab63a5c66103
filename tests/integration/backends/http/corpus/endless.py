"""Answers that never come, never end, or are far too large."""

import asyncio
import itertools
import socket
import struct
from asyncio import StreamReader, StreamWriter
from typing import Any

from switchyard.handlers import Retry, Success
from tests.integration.backends.http.corpus.case import Case, silence

QUICK = {"timeout": "600ms"}


def _forever(start: bytes, piece: bytes, pause: float = 0.0) -> Any:
    async def speak(_reader: StreamReader, writer: StreamWriter) -> None:
        writer.write(start)
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)

    return speak


def _bytes(count: int, start: bytes) -> Any:
    async def speak(_reader: StreamReader, writer: StreamWriter) -> None:
        writer.write(start)
        piece = bytes(2**20)
        for _ in range(count // len(piece)):
            writer.write(piece)
            await writer.drain()

    return speak


async def _reset(_reader: StreamReader, writer: StreamWriter) -> None:
    """Hang up with a reset instead of an end."""
    raw: socket.socket = writer.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def _growing(_reader: StreamReader, writer: StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    for number in itertools.count():
        writer.write(b"X-%d: y\r\n" % number)
        await writer.drain()
        await asyncio.sleep(0)


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
GIGABYTE = b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n"

CASES = [
    Case("endless: never answers", Retry, "no answer within", speak=silence, sent=True, settings=QUICK),
    Case("endless: reset", Retry, "ended before the answer", speak=_reset, sent=True),
    Case("endless: status line drips", Retry, "no answer within", speak=_forever(b"HTTP/1.1 200 O", b"K", 0.05),
         sent=True, settings=QUICK),
    Case("endless: headers drip", Retry, "no answer within", speak=_forever(b"HTTP/1.1 200 OK\r\nA: ", b"x", 0.05),
         sent=True, settings=QUICK),
    Case("endless: headers without end", Retry, "not valid HTTP|no answer within", speak=_growing, sent=True,
         settings=QUICK),
    Case("endless: body drips", Success, "did not end within", speak=_forever(CHUNKED, b"1\r\nx\r\n", 0.05),
         settings=QUICK),
    Case("endless: body drips for a read time-out", Success, "longer than the read time-out",
         speak=_forever(CHUNKED, b"1\r\nx\r\n", 1.0), settings={"timeouts": {"read": "200ms"}}),
    Case("endless: nothing for a read time-out", Retry, "nothing came", speak=silence, sent=True,
         settings={"timeouts": {"read": "200ms"}}),
    Case("endless: body without length or end", Success, "more than 1048576",
         speak=_forever(b"HTTP/1.0 200 OK\r\n\r\n", bytes(65536))),
    Case("endless: chunks without end", Success, "more than 1048576",
         speak=_forever(CHUNKED, b"10000\r\n" + bytes(65536) + b"\r\n")),
    Case("endless: chunks of one byte", Success, "more than 65536", speak=_forever(CHUNKED, b"1\r\nx\r\n" * 4096),
         settings={"limits": {"response_body": "64KiB"}}),
    Case("endless: chunk extension without end", Success, "within|more than|did not end",
         speak=_forever(CHUNKED + b"5;", b"x" * 65536), settings=QUICK),
    Case("endless: trailers without end", Retry, "not valid HTTP", settings=QUICK, sent=True,
         speak=_forever(CHUNKED + b"0\r\n", b"A: b\r\n" * 1000)),
    Case("endless: a chunk of an exabyte", Success, "more than 1048576",
         speak=_forever(CHUNKED + b"fffffffffffffff\r\n", bytes(65536))),
    Case("endless: a gigabyte", Success, "more than 1048576", speak=_bytes(2**30, GIGABYTE)),
    Case("endless: a gigabyte of error", Retry, "answered 500", sent=True,
         speak=_bytes(2**30, GIGABYTE.replace(b"200 OK", b"500 No"))),
    Case("endless: informational answers", Retry, "no answer within", sent=True, settings=QUICK,
         speak=_forever(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100)),
    Case("endless: early hints", Retry, "no answer within", sent=True, settings=QUICK,
         speak=_forever(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 100)),
    Case("endless: empty lines before the status", Retry, "not valid HTTP|no answer within", sent=True,
         settings=QUICK, speak=_forever(b"", b"\r\n" * 1000)),
]  # fmt: skip
