"""Mask secrets in stored texts: those known to the process, and values derived from them for one request."""

import base64
import re
from collections.abc import Sequence
from functools import lru_cache

from switchyard.process.redact import MASK, redact, register_secret

_SENSITIVE = re.compile(
    r"auth|token|secret|key|cookie|sign|passw|credential|session|bearer|jwt", re.IGNORECASE | re.ASCII
)
SHORTEST = 4


@lru_cache(maxsize=1024)
def sensitive(header: str) -> bool:
    """Whether a header with this name is likely to contain credentials."""
    return _SENSITIVE.search(header) is not None


def remember(secret: str) -> None:
    """Mask this secret from now on, also in base64, the form in an Authorization header."""
    register_secret(secret)
    raw = secret.encode(errors="surrogatepass")
    for encoded in (base64.b64encode(raw), base64.urlsafe_b64encode(raw)):
        register_secret(encoded.rstrip(b"="))


def masked(text: str, derived: Sequence[str] = ()) -> str:
    """The text without secrets and without `derived`, the values made from secrets."""
    for value in derived:
        if len(value) >= SHORTEST and value in text:
            text = text.replace(value, MASK)
    return redact(text)
