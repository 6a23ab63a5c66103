"""JSON pointers (RFC 6901)."""

from collections.abc import Iterable


def pointer(path: Iterable[str | int]) -> str:
    """The pointer of a path; empty for the whole document."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)
