"""Servers whose certificates, or whose TLS, should not be trusted. Nothing may be sent to any of them."""

import ssl
import warnings
from collections.abc import Callable
from typing import Any

from switchyard.handlers import Retry
from tests.integration.backends.http.certificates import (
    DAY,
    NOW,
    file_of,
    other,
    self_signed,
    serving,
    trusted,
)
from tests.integration.backends.http.corpus.case import Case
from tests.integration.backends.http.servers import says

OK = says(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
HERE = "https://127.0.0.1:{port}/hook"


def _trusting(**more: Any) -> dict[str, Any]:
    return {"tls": {"ca": str(file_of(trusted().pem, "trusted.pem"))}, **more}


def _untrusted(
    name: str, tls: Callable[[], ssl.SSLContext], error: str, url: str = HERE, **more: Any
) -> Case:
    return Case(
        f"tls: {name}", Retry, error, url=url, speak=OK, tls=tls, sent=False, settings=_trusting(**more)
    )


def _old() -> ssl.SSLContext:
    context = serving(trusted().issue("127.0.0.1"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # deprecated is what it is meant to be
        context.maximum_version = ssl.TLSVersion.TLSv1_1
        context.minimum_version = ssl.TLSVersion.TLSv1
    context.set_ciphers("ALL:@SECLEVEL=0")
    return context


def _asking() -> ssl.SSLContext:
    """TLS 1.2, where a client without a certificate is turned away within the handshake."""
    context = serving(trusted().issue("127.0.0.1"), clients=trusted())
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    return context


CASES = [
    _untrusted("expired", lambda: serving(trusted().issue("127.0.0.1", begins=NOW - 3 * DAY, ends=NOW - DAY)), "expired"),
    _untrusted("not yet valid", lambda: serving(trusted().issue("127.0.0.1", begins=NOW + DAY, ends=NOW + 2 * DAY)),
               "not yet valid"),
    _untrusted("another address", lambda: serving(trusted().issue("127.0.0.2")), "IP address mismatch"),
    _untrusted("another name", lambda: serving(trusted().issue("partner.example")), "mismatch"),
    _untrusted("a wildcard for an address", lambda: serving(trusted().issue("*.0.0.1")), "mismatch"),
    _untrusted("a name for localhost", lambda: serving(trusted().issue("127.0.0.1")), "Hostname mismatch",
               url="https://localhost:{port}/hook"),
    _untrusted("self-signed", lambda: serving(self_signed("127.0.0.1")), "self-signed|self signed"),
    _untrusted("an authority that nobody trusts", lambda: serving(other().issue("127.0.0.1")), "unable to get"),
    _untrusted("TLS of twenty years ago", _old, "handshake failed|hung up"),
    _untrusted("a client certificate is asked for", _asking, "handshake failed|hung up"),
    Case("tls: a server that does not speak it", Retry, "handshake failed|no connection", url=HERE, sent=False,
         speak=OK, settings=_trusting(timeouts={"connect": "500ms"})),
    Case("tls: the system's authorities do not know ours", Retry, "not accepted", url=HERE, sent=False, speak=OK,
         tls=lambda: serving(trusted().issue("127.0.0.1"))),
]  # fmt: skip
