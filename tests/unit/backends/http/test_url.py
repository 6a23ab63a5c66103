"""A URL is read once and strictly; what is shown of it holds no secret."""

from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from switchyard.backends.http.url import UrlError, literal, parse_url, shown


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("https://partner.example/hook?x=1#part", "partner.example"),
        ("HTTP://PARTNER.example./", "partner.example."),
        ("http://[2606:4700::1111]:8080/", "2606:4700::1111"),
        ("http://bücher.example/", "xn--bcher-kva.example"),
        ("http://127.0.0.1/", "127.0.0.1"),
        ("http://a_b.example/", "a_b.example"),
    ],
)
def test_taken(text: str, host: str) -> None:
    url = parse_url(text)
    assert url.raw_host == host
    assert not url.raw_fragment


@pytest.mark.parametrize(
    "text",
    [
        "", "partner.example", "//partner.example/", "http:", "http://", "http:///x", "http:/a.example",
        "file:///etc/passwd", "gopher://a.example", "ftp://a.example", "javascript:alert(1)", "ws://a.example",
        "http://127.1/", "http://2130706433/", "http://0x7f000001/", "http://0x7f.1/", "http://0177.0.0.1/",
        "http://127.0.0.01/", "http://1.2.3/", "http://127.0.0.1./", "http://a.0x1/", "http://999.1.1.1/",
        "http://[fe80::1%25eth0]/", "http://[fe80::1%eth0]/", "http://[::1/", "http://[v1.a]:80:1/",
        "http://ex%61mple.com/", "http://%31%32%37.0.0.1/", "http://127.0.0.1%00.a.example/",
        "http://a.example\\@evil.example/", "http://a.example /", " http://a.example/",
        "http://a.example/\r\nX: y",
        "http://a.exam\tple/", "http://a\u200b.example/", "http://a.example/\ud800", "http://a..example/",
        "http://-a.example/", "http://a.example:0/", "http://a.example:99999/", "http://a.example:x/",
        "http://" + "a" * 64 + ".example/", "http://a.example/" + "x" * 9000, "http://a.example:80:80/",
        "http://[v1.a:b]/", "http://[1:2]/", "http://[::g]/",
    ],
)  # fmt: skip
def test_refused(text: str) -> None:
    with pytest.raises(UrlError):
        parse_url(text)


def test_what_looks_like_digits_elsewhere_becomes_the_address_that_is_vetted() -> None:
    assert str(literal(parse_url("http://①②⑦.⓪.⓪.①/"))) == "127.0.0.1"
    assert literal(parse_url("http://[::ffff:7f00:1]/")) == ip_address("::ffff:127.0.0.1")


def test_shown_without_secrets() -> None:
    url = URL("https://user:pass@a.example:8443/p?token=abc&id=7&token=d#f")
    assert shown(url) == "https://a.example:8443/p?token=…&id=…"


@given(st.text(max_size=80))
def test_nothing_else_than_a_refusal_comes_of_any_text(text: str) -> None:
    for candidate in (text, f"http://{text}/", f"https://a.example/{text}", f"http://{text}@a.example/"):
        try:
            url = parse_url(candidate)
        except UrlError:
            continue
        assert url.scheme in ("http", "https")
        assert url.raw_host
