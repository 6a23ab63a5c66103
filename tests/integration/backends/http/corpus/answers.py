"""Answers that are no HTTP, nearly HTTP, or HTTP that says something absurd."""

import gzip
import zlib
from typing import Any

from switchyard.handlers import Failed, Outcome, Retry, Success
from tests.integration.backends.http.corpus.case import Case, Kind
from tests.integration.backends.http.servers import says

UNREADABLE = "not valid HTTP"
ENDED = "the connection ended before the answer"


def _said(name: str, data: bytes, outcome: Kind, error: str, **more: Any) -> Case:
    sent = True if outcome is Retry else None
    return Case(f"answer: {name}", outcome, error, speak=says(data), sent=sent, **more)


def _with_body(body: bytes, headers: bytes = b"", status: bytes = b"200 OK") -> bytes:
    return b"HTTP/1.1 %s\r\nContent-Length: %d\r\n%s\r\n%s" % (status, len(body), headers, body)


def _delayed(seconds: float | None) -> Any:
    def check(outcome: Outcome) -> None:
        assert isinstance(outcome, Retry)
        assert outcome.delay == seconds if seconds is None else outcome.delay is not None
        if seconds is not None and outcome.delay is not None:
            assert abs(outcome.delay - seconds) < 5

    return check


_READS_BODY = {
    "responses": [
        {"status": 200, "path": "$..ok", "outcome": "success"},
        {"status": 200, "matches": "(a+)+$", "outcome": "success"},
        {"outcome": "failed"},
    ]
}

_NO_HTTP = [
    _said("garbage", b"\x00\xff\xfe garbage\r\n\r\n", Retry, UNREADABLE),
    _said("an SSH banner", b"SSH-2.0-OpenSSH_9.6\r\n", Retry, f"{UNREADABLE}|{ENDED}"),
    _said("an SMTP banner", b"220 mail ESMTP\r\n", Retry, f"{UNREADABLE}|{ENDED}"),
    _said("a TLS record", b"\x15\x03\x01\x00\x02\x02\x28", Retry, f"{UNREADABLE}|{ENDED}"),
    _said("HTTP/0.9", b"<html>hello</html>", Retry, f"{UNREADABLE}|{ENDED}"),
    _said("HTTP/9.9", b"HTTP/9.9 200 OK\r\nContent-Length: 0\r\n\r\n", Retry, UNREADABLE),
    _said("no status", b"HTTP/1.1\r\n\r\n", Retry, UNREADABLE),
    _said("status of letters", b"HTTP/1.1 abc OK\r\n\r\n", Retry, UNREADABLE),
    _said("status of four digits", b"HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n", Retry, UNREADABLE),
    _said("negative status", b"HTTP/1.1 -200 OK\r\n\r\n", Retry, UNREADABLE),
    _said("nothing at all", b"", Retry, ENDED),
    _said("half a status line", b"HTTP/1.1 20", Retry, f"{ENDED}|{UNREADABLE}"),
    _said("half a header", b"HTTP/1.1 200 OK\r\nContent-Le", Retry, f"{ENDED}|{UNREADABLE}"),
    _said("a header without a colon", b"HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", Retry, UNREADABLE),
    _said("a header name with a space", b"HTTP/1.1 200 OK\r\nA b: c\r\nContent-Length: 0\r\n\r\n", Retry, UNREADABLE),
    _said("null in a header", b"HTTP/1.1 200 OK\r\nA: b\0c\r\nContent-Length: 0\r\n\r\n", Retry, UNREADABLE),
    _said("a header of a megabyte", b"HTTP/1.1 200 OK\r\nA: " + b"x" * 2**20 + b"\r\n\r\n", Retry, UNREADABLE),
    _said("a status line of a megabyte", b"HTTP/1.1 200 " + b"x" * 2**20 + b"\r\n\r\n", Retry, UNREADABLE),
    _said("ten thousand headers", b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 10_000 + b"\r\n", Retry, UNREADABLE),
    _said("negative length", b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", Retry, UNREADABLE),
    _said("length of letters", b"HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\n", Retry, UNREADABLE),
    _said("length with a sign", b"HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello", Retry, UNREADABLE),
    _said("two lengths", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", Retry, UNREADABLE),
    _said("length beyond 64 bits", b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n", Retry, UNREADABLE),
]  # fmt: skip

_BROKEN_BODY = [
    _said("body shorter than said", b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort", Success, "within the body"),
    _said("500 with a broken body", b"HTTP/1.1 500 No\r\nContent-Length: 50\r\n\r\nshort", Retry, "answered 500"),
    _said("chunk size of letters", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", Retry, UNREADABLE),
    _said("chunks that stop", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", Success, "within"),
    _said("a broken body that a rule needs", b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{\"ok\": 1}", Failed,
          "answered 200", settings=_READS_BODY),
    _said("gzip that is none", _with_body(b"plain", b"Content-Encoding: gzip\r\n"), Success, "is not the gzip"),
    _said("gzip cut short", _with_body(gzip.compress(b"x" * 999)[:-9], b"Content-Encoding: gzip\r\n"), Success, "too soon"),
    _said("a gzip bomb", _with_body(gzip.compress(bytes(50 * 2**20)), b"Content-Encoding: gzip\r\n"), Success,
          "unpacks to more than"),
    _said("a deflate bomb", _with_body(zlib.compress(bytes(50 * 2**20)), b"Content-Encoding: deflate\r\n"), Success,
          "unpacks to more than"),
    _said("gzip in gzip", _with_body(gzip.compress(gzip.compress(bytes(9 * 2**20))), b"Content-Encoding: gzip, gzip\r\n"),
          Success, "encoded as 'gzip, gzip'"),
    _said("brotli", _with_body(b"\x1b\x0e", b"Content-Encoding: br\r\n"), Success, "encoded as 'br'"),
    _said("an encoding with a long name", _with_body(b"x", b"Content-Encoding: " + b"z" * 4000 + b"\r\n"), Success,
          "encoded as 'z+'"),
]  # fmt: skip

_ODD = [
    _said("no reason", b"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", Success, ""),
    _said("status 999", b"HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n", Failed, "answered 999"),
    _said("status 304", b"HTTP/1.1 304 Not Modified\r\n\r\n", Failed, "answered 304"),
    _said("101 to a POST", b"HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", Failed,
          "answered 101"),
    _said("204 with a body", b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello", Retry, UNREADABLE),
    _said("control characters in the reason", b"HTTP/1.1 400 \x1b[2Jbad\r\nContent-Length: 0\r\n\r\n", (Failed),
          "answered 400"),
    _said("a body of no UTF-8", _with_body(b"\xff\xfe\x00\xd8" * 10, status=b"400 Bad"), Failed, "answered 400"),
    _said("an error text of a page", _with_body(b"<p>" + b"x" * 50_000, status=b"400 Bad"), Failed, "answered 400"),
    _said("JSON of a hundred thousand levels", _with_body(b"[" * 100_000), Failed, "answered 200", settings=_READS_BODY),
    _said("a number of five thousand digits", _with_body(b'{"no": ' + b"1" * 5000 + b"}"), Failed, "answered 200",
          settings=_READS_BODY),
    _said("a text that explodes an expression", _with_body(b"a" * 5000 + b"!"), Failed, "answered 200",
          settings=_READS_BODY),
    _said("the same key twice", _with_body(b'{"no": 1, "ok": 1, "ok": 2}'), Success, "", settings=_READS_BODY),
    _said("JSON in UTF-16", _with_body('{"ok": 1}'.encode("utf-16")), Success, "", settings=_READS_BODY),
    _said("cookies", b"HTTP/1.1 200 OK\r\nSet-Cookie: a=b; Domain=.example\r\nContent-Length: 0\r\n\r\n", Success, ""),
    _said("retry after a while", _with_body(b"", b"Retry-After: 120\r\n", b"503 Busy"), Retry, "503", check=_delayed(120)),
    _said("retry after for ever", _with_body(b"", b"Retry-After: 9999999999\r\n", b"429 Slow"), Retry, "429",
          check=_delayed(86_400)),
    _said("retry after a date", _with_body(b"", b"Retry-After: Fri, 31 Dec 9999 23:59:59 GMT\r\n", b"503 Busy"), Retry,
          "503", check=_delayed(86_400)),
    _said("retry after a past date", _with_body(b"", b"Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n", b"503 Busy"),
          Retry, "503", check=_delayed(0)),
    _said("retry after a negative number", _with_body(b"", b"Retry-After: -5\r\n", b"503 Busy"), Retry, "503",
          check=_delayed(None)),
    _said("retry after nonsense", _with_body(b"", b"Retry-After: soon\r\n", b"503 Busy"), Retry, "503",
          check=_delayed(None)),
]  # fmt: skip

CASES = [*_NO_HTTP, *_BROKEN_BODY, *_ODD]
