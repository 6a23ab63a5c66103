"""Parses untrusted URLs: strictly, once, and without showing their secrets."""

import ipaddress
import re
from functools import lru_cache

from yarl import URL

from switchyard.backends.http.address import Address

LONGEST = 8192
# Characters that parsers interpret differently or drop, which request smuggling exploits.
_UNWANTED = re.compile(r"[\x00-\x20\x7f-\xa0\\\u200b-\u200f\u2028-\u202f\u2060\ufeff\ud800-\udfff]")
_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(\.(?!-)[a-z0-9_-]{1,63}(?<!-))*\.?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")


class UrlError(ValueError):
    """The URL may not be called; the message gives the reason, without secrets."""


@lru_cache(maxsize=512)
def parse_url(text: str) -> URL:
    """Parse a URL once: the checked URL is the one that is called."""
    if len(text) > LONGEST:
        raise UrlError(f"the URL has {len(text)} characters, at most {LONGEST} are taken")
    if _UNWANTED.search(text):
        raise UrlError("the URL holds a space, a backslash, or a control or invisible character")
    try:
        url = URL(text)
        port = url.port
    except ValueError:  # its message may contain the URL with its credentials
        raise UrlError("the URL cannot be read: its host or its port is malformed") from None
    if url.scheme not in ("http", "https"):
        raise UrlError(f"the URL's scheme is {url.scheme[:20]!r}; only http and https are called")
    if not url.raw_host:
        raise UrlError("the URL names no host")
    if not port:
        raise UrlError("the URL's port is 0")
    check_host(url.raw_host)
    return url.with_fragment(None)


def check_host(host: str) -> None:
    """Refuse spellings of a host that parsers read differently."""
    if "%" in host:
        raise UrlError(f"the host {host[:80]!r} has a zone or an escape in it")
    if ":" in host:
        if _literal(host) is None:
            raise UrlError(f"the host {host[:80]!r} is not an IPv6 address")
        return
    if len(host) > 254 or not _NAME.fullmatch(host):
        raise UrlError(f"the host {host[:80]!r} is not a host name")
    if _NUMBER.fullmatch(host.rstrip(".").rsplit(".", 1)[-1]) and _literal(host) is None:
        raise UrlError(f"the host {host[:80]!r} is a number, but not an IP address in the usual form")


def literal(url: URL) -> Address | None:
    """The address in the URL, if its host is one."""
    return _literal(url.raw_host or "")


def _literal(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


@lru_cache(maxsize=512)
def shown(url: URL) -> str:
    """The URL for display: without userinfo, and with the query's names but not their values."""
    plain = url.with_user(None).with_fragment(None)
    if not url.raw_query_string:
        return str(plain)
    names = "&".join(dict.fromkeys(f"{name}=…" for name in url.query))
    return f"{plain.with_query(None)}?{names}"
