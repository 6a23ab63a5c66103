"""One change of one file."""

import re
from dataclasses import dataclass

_FUNCTION = re.compile(rb"create or replace (?:function|view) (switchyard\.\w+)")


@dataclass(frozen=True, order=True)
class Change:
    """Replace the bytes from `start` to `end` of a file by `new`."""

    file: str
    start: int
    end: int
    new: bytes
    first_line: int
    last_line: int
    line_text: str
    old: str
    function: str = ""  # the SQL function that it is in

    @property
    def text(self) -> str:
        """The change in one line, without its place."""
        return f"{_short(self.old)} -> {_short(self.new.decode()) or '(deleted)'}"

    @property
    def is_sql(self) -> bool:
        return self.file.endswith(".sql")

    def __str__(self) -> str:
        return f"{self.file}:{self.first_line}: {self.text}"

    def apply(self, source: bytes) -> bytes:
        return source[: self.start] + self.new + source[self.end :]


def change(file: str, source: bytes, start: int, end: int, new: str) -> Change:
    """A change with its lines and texts taken from the source."""
    first = source.count(b"\n", 0, start)
    last = source.count(b"\n", 0, end)
    line = source.splitlines()[first].decode().strip()
    above = _FUNCTION.findall(source, 0, end)
    function = above[-1].decode() if above else ""
    old = source[start:end].decode()
    return Change(file, start, end, new.encode(), first + 1, last + 1, line, old, function)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 70 else f"{text[:67]}..."
