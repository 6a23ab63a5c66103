"""Tokens of the HTTP API: 256 random bits; the database stores their hash."""

import hashlib
import secrets

PREFIX = "sb_"


def new_token() -> str:
    """A new random token."""
    return PREFIX + secrets.token_urlsafe(32)


def hash_of(token: str) -> bytes:
    """What the database stores of it."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
