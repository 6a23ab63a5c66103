"""Why there is no answer, and whether anything may have reached the other side.

Only errors that aiohttp raises before a connection is established are certainly unsent: look-up, connect,
TLS handshake, and their time-outs. All others count as sent, since a byte may have left. The messages are
ours, because aiohttp's messages contain the URL with its secrets.
"""

import os
import ssl

import aiohttp
from aiohttp.http import HttpProcessingError
from yarl import URL

from switchyard.backends.http.resolver import AddressError
from switchyard.backends.http.url import UrlError


class Interrupted(aiohttp.ClientError):
    """The connection ended before the answer came."""


class Fault(Exception):  # noqa: N818 - a fault of the other side, recorded as an outcome
    """There is no answer. `refused`: this address may not be called; `sent`: data may have arrived there."""

    def __init__(self, text: str, *, sent: bool, refused: bool = False) -> None:
        super().__init__(text)
        self.sent = sent
        self.refused = refused


EXPECTED = (aiohttp.ClientError, HttpProcessingError, TimeoutError, OSError, ValueError)


def fault_of(error: BaseException, url: URL, seconds: float) -> Fault:
    """Convert an aiohttp error to a Fault."""
    if isinstance(error, AddressError | UrlError):
        return Fault(str(error), sent=False, refused=True)
    if isinstance(
        error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError | ssl.CertificateError
    ):
        return Fault(f"{url.host}:{url.port}: {_unconnected(error)}", sent=False)
    if isinstance(error, aiohttp.InvalidURL):
        return Fault("the URL cannot be called", sent=False, refused=True)
    return Fault(f"{url.host}:{url.port}: {_unanswered(error, seconds)}", sent=True)


def _unconnected(error: BaseException) -> str:
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        why = getattr(error.certificate_error, "verify_message", None) or "it cannot be verified"
        return f"the certificate is not accepted: {why}"
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return f"the name cannot be resolved: {error.os_error.strerror or 'no address'}"
    if isinstance(error, aiohttp.ClientConnectorSSLError):
        return f"the TLS handshake failed: {getattr(error.os_error, 'reason', None) or 'no reason given'}"
    if isinstance(error, aiohttp.ClientConnectorError):
        number = error.os_error.errno
        return f"no connection: {os.strerror(number) if number else 'the other side hung up'}"
    return "no connection within the connect time-out"


def _unanswered(error: BaseException, seconds: float) -> str:
    if isinstance(error, aiohttp.SocketTimeoutError):
        return "nothing came for the read time-out"
    if isinstance(error, TimeoutError):
        return f"no answer within {seconds:g} s"
    if isinstance(error, Interrupted | aiohttp.ClientOSError | aiohttp.ServerDisconnectedError):
        return "the connection ended before the answer"
    if isinstance(error, HttpProcessingError):
        return f"the answer is not valid HTTP: {error.message.splitlines()[0][:120]}"
    return f"the exchange failed ({type(error).__name__})"


def broken_body(error: BaseException, seconds: float) -> str:
    """Why a body is incomplete; its status is valid nevertheless."""
    if isinstance(error, aiohttp.SocketTimeoutError):
        return "the body stopped for longer than the read time-out"
    if isinstance(error, TimeoutError):
        return f"the body did not end within {seconds:g} s"
    return "the connection ended within the body"
