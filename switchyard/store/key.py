"""Keys: `/`-separated names that mean the same object in every store, and never anything outside of it."""

import re

from switchyard.errors import StoreBadKey

# Names of files that are being written; no key may look like one.
TEMPORARY = ".switchyard-part-"
_LONGEST_KEY = 1024  # S3's limit, in bytes
_LONGEST_PART = 255  # what file systems take
_FORBIDDEN = re.compile(r"[\x00-\x1f\x7f]")


def vet(key: str) -> str:
    """The key itself; StoreBadKey with the reason where it is invalid."""
    parts = key.split("/")
    if not key or "" in parts:
        raise StoreBadKey(f"store key {key!r} is empty, is absolute or has an empty part")
    _vet_characters(key)
    for part in parts:
        if part in (".", ".."):
            raise StoreBadKey(f"store key {key!r} has {part!r} as a part")
        if part.startswith(TEMPORARY):
            raise StoreBadKey(f"store key {key!r} has a part that starts with {TEMPORARY!r}, a reserved name")
        if len(part.encode()) > _LONGEST_PART:
            raise StoreBadKey(f"store key {key[:80]!r}… has a part longer than {_LONGEST_PART} bytes")
    return key


def vet_prefix(prefix: str) -> str:
    """A prefix is the start of a key: it may be empty, and may end within a part or with `/`."""
    if prefix:
        vet(prefix + "x" if prefix.endswith("/") else prefix)
    return prefix


def _vet_characters(key: str) -> None:
    if _FORBIDDEN.search(key):
        raise StoreBadKey(f"store key {key[:80]!r} has a control character in it")
    try:
        size = len(key.encode())
    except UnicodeEncodeError:
        raise StoreBadKey(f"store key {key[:80]!r} is not valid text") from None
    if size > _LONGEST_KEY:
        raise StoreBadKey(f"store key {key[:80]!r}… is {size} bytes long; at most {_LONGEST_KEY} fit")
