"""What came back: the status, the headers, and as much of the body as is taken."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


class NoJsonError(ValueError):
    """The body is not JSON, or not all of it is here."""


_UNREAD = object()


@dataclass(slots=True)
class Answer:
    """One answer. `fault` says why its body is not whole, where it is not; its status stands all the same."""

    status: int
    reason: str
    headers: Mapping[str, str]
    body: bytes = b""
    fault: str | None = None
    hops: list[str] = field(default_factory=list)  # where redirects led, as people may see it
    _parsed: Any = _UNREAD

    @property
    def text(self) -> str:
        """The body as text; what is no UTF-8 is replaced, so that a rule can still look at the rest."""
        return self.body.decode("utf-8", "replace")

    @property
    def document(self) -> Any:
        """The body as JSON, read once; NoJsonError where it is none."""
        if self._parsed is _UNREAD:
            self._parsed = self._read()
        if isinstance(self._parsed, NoJsonError):
            raise self._parsed
        return self._parsed

    def _read(self) -> Any:
        if self.fault is not None:
            return NoJsonError(self.fault)
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):  # also numbers of thousands of digits, and what is no Unicode
            return NoJsonError("the body is not JSON")
