"""A body that came packed though nobody asked for it."""

import gzip
import zlib

import pytest

from switchyard.backends.http.answer import unpacked

TEXT = b"well " * 20
PACKED = gzip.compress(TEXT)


@pytest.mark.parametrize(
    ("data", "encoding", "body", "why"),
    [
        (TEXT, "", TEXT, None),
        (TEXT, " Identity ", TEXT, None),
        (b"", "gzip", b"", None),
        (PACKED, "GZip", TEXT, None),
        (zlib.compress(TEXT), "deflate", TEXT, None),
        (PACKED[:-1], "x-gzip", TEXT, "the packed body ends too soon"),
        (gzip.compress(b"x" * 2000), "gzip", b"x" * 1000, "the body unpacks to more than 1000 bytes"),
        (TEXT, "gzip", b"", "the body is not the gzip that it is said to be"),
        (TEXT, "br", TEXT, "the body is encoded as 'br', which was not requested"),
    ],
    ids=["plain", "identity", "empty", "gzip", "deflate", "cut off", "too long", "no gzip", "unknown"],
)
def test_unpacked(data: bytes, encoding: str, body: bytes, why: str | None) -> None:
    assert unpacked(data, encoding, 1000) == (body, why)
