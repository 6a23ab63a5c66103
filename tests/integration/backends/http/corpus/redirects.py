"""Redirects: never followed by default; where they are, no hop leads where the first could not go."""

from typing import Any

from switchyard.handlers import Failed, Invalid, Retry
from tests.integration.backends.http.corpus.case import Case
from tests.integration.backends.http.servers import says

FOLLOW = {"redirects": 3, "allow_networks": ["127.0.0.1/32"]}


def _to(location: str | bytes, status: int = 307) -> Any:
    place = location.encode() if isinstance(location, str) else location
    return says(
        b"HTTP/1.1 %d Go\r\nLocation: %s\r\nConnection: close\r\nContent-Length: 0\r\n\r\n" % (status, place)
    )


def _closed(name: str, location: str | bytes, error: str) -> Case:
    """A hop that is refused; the first request went out, so the trouble is not the sender's alone."""
    return Case(f"redirect: {name}", Invalid, error, speak=_to(location), settings=FOLLOW)


CASES = [
    *(Case(f"redirect: {status} is not followed by default", Failed, f"answered {status}",
           speak=_to("http://169.254.169.254/", status)) for status in (301, 302, 303, 307, 308)),
    _closed("to the metadata service", "http://169.254.169.254/latest/", "link-local"),
    _closed("to another loopback address", "http://127.0.0.2/", "loopback"),
    _closed("to loopback v6", "http://[::1]/", "loopback"),
    _closed("to a mapped address", "http://[::ffff:10.0.0.1]/", "private"),
    _closed("to a private network", "http://10.0.0.1/", "private"),
    _closed("to a number", "http://2130706434/", "a number"),
    _closed("to a short form", "http://127.2/", "a number"),
    _closed("to a file", "file:///etc/passwd", "scheme is 'file'"),
    _closed("to gopher", "gopher://127.0.0.1/", "scheme is 'gopher'"),
    _closed("scheme relative", "//10.0.0.1/x", "private"),
    _closed("with a backslash", "http://127.0.0.1\\@10.0.0.1/", "no URL|backslash"),
    _closed("with credentials", "http://user:pass@127.0.0.1/", "contains credentials"),
    _closed("to a malformed host", "http://[::1/", "no URL"),
    _closed("to nine thousand characters", "/" + "x" * 8175, "characters|no HTTP"),
    Case("redirect: to itself for ever", Failed, "answered 307", speak=_to("/again"), settings=FOLLOW),
    Case("redirect: without a place", Failed, "answered 307", settings=FOLLOW,
         speak=says(b"HTTP/1.1 307 Go\r\nContent-Length: 0\r\n\r\n")),
    Case("redirect: that would turn a POST into a GET", Failed, "answered 303", speak=_to("/other", 303),
         settings=FOLLOW),
    Case("redirect: to a port where nobody listens", Retry, "no connection", speak=_to("http://127.0.0.1:1/"),
         sent=True, settings=FOLLOW),
]  # fmt: skip
