"""Signatures by Standard Webhooks, with which the receiver can verify sender, content and time."""

import base64
import binascii
import hmac
from collections.abc import Sequence

from switchyard.errors import ConfigError

PREFIX = "whsec_"
SHORTEST = 24  # bytes; what the specification asks for


def signing_key(secret: str) -> bytes:
    """The key in a secret: base64 with or without `whsec_`; errors never contain the secret."""
    try:
        key = base64.b64decode(secret.strip().removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        raise ConfigError("a signing secret must be base64, with or without 'whsec_' before it") from None
    if len(key) < SHORTEST:
        raise ConfigError(f"a signing secret must hold at least {SHORTEST} bytes, this one has {len(key)}")
    return key


class Signer:
    """Signs with all given secrets, so that the receiver may have the old one or the new one."""

    def __init__(self, secrets: Sequence[str]) -> None:
        # Copied for each message: a new object would set up the key again, and release the interpreter lock.
        self._begun = tuple(hmac.new(signing_key(secret), digestmod="sha256") for secret in secrets)

    def headers(self, message_id: str, timestamp: int, body: bytes) -> dict[str, str]:
        """The three headers. A retry has the same id, so that the receiver can recognise the message."""
        start = f"{message_id}.{timestamp}.".encode()
        return {
            "webhook-id": message_id,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": " ".join([_signature(begun, start, body) for begun in self._begun]),
        }


def _signature(begun: hmac.HMAC, start: bytes, body: bytes) -> str:
    mac = begun.copy()
    mac.update(start)
    mac.update(body)
    return "v1," + binascii.b2a_base64(mac.digest(), newline=False).decode("ascii")
