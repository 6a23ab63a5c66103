"""A request as it goes out: one reading of it only, whatever is in its headers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from switchyard.backends.http.request import OutgoingRequest
from switchyard.backends.http.send import written


def outgoing(method: str = "POST", body: bytes = b"", **headers: str) -> OutgoingRequest:
    return OutgoingRequest("u", method, URL("http://a.example:81/b/c?d=e%20f"), headers, body=body)


def test_the_whole_of_it() -> None:
    request = outgoing(body=b'{"a":1}', Accept="*/*")
    assert written(request, "a.example:81", close=True) == (
        b"POST /b/c?d=e%20f HTTP/1.1\r\nHost: a.example:81\r\nAccept: */*\r\nContent-Length: 7\r\n"
        b'Connection: close\r\n\r\n{"a":1}'
    )


@pytest.mark.parametrize(
    ("method", "length"), [("GET", False), ("HEAD", False), ("POST", True), ("PUT", True), ("DELETE", True)]
)
def test_a_length_is_sent_where_a_body_may_be(method: str, length: bool) -> None:
    data = written(outgoing(method), "a.example", close=False)
    assert (b"Content-Length: 0\r\n" in data) == length


@given(st.text(), st.sampled_from(["\r", "\n", "\r\n", "\0", "\r\n\r\n", "\nX: y\r"]), st.text())
def test_no_header_breaks_out_of_its_line(before: str, broken: str, after: str) -> None:
    with pytest.raises(ValueError, match="line break"):
        written(outgoing(X=before + broken + after), "a.example", close=False)
