"""The attribute table of a shapefile (dBASE)."""

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass
from struct import Struct
from typing import Any

from switchyard.errors import BadInput

_HEADER = Struct("<4xIHH20x")
_FIELD = Struct("<11sc4xBB14x")
_LATIN = "cp1252"


@dataclass(frozen=True)
class Field:
    name: str
    kind: str
    start: int
    size: int


class Table:
    """Rows of a .dbf, decoded as they are asked for."""

    def __init__(self, content: memoryview, encoding: str | None) -> None:
        if len(content) < _HEADER.size:
            raise BadInput("the .dbf of the shapefile ends in its header")
        self.count, self._head, self._size = _HEADER.unpack_from(content)
        self._content = content
        self._codec = _codec(encoding)
        self._by_name = {field.name: field for field in self._layout()}
        if self._head + self.count * self._size > len(content):
            raise BadInput(f"the .dbf of the shapefile is shorter than its {self.count} rows")

    @property
    def fields(self) -> Sequence[str]:
        return list(self._by_name)

    def _layout(self) -> list[Field]:
        fields, start, at = [], 1, _HEADER.size
        while at + _FIELD.size <= min(self._head, len(self._content)) and self._content[at] != 0x0D:
            name, kind, size, _ = _FIELD.unpack_from(self._content, at)
            text = name.split(b"\0")[0].decode(self._codec, errors="replace")
            fields.append(Field(text, kind.decode("latin-1"), start, size))
            start, at = start + size, at + _FIELD.size
        if start > self._size:
            raise BadInput("the .dbf of the shapefile has rows shorter than its fields")
        return fields

    def deleted(self, row: int) -> bool:
        return bool(self._content[self._head + row * self._size] == ord("*"))

    def column(self, name: str, rows: Sequence[int]) -> list[Any]:
        field = self._by_name[name]
        return [self._value(field, row) for row in rows]

    def _value(self, field: Field, row: int) -> Any:
        start = self._head + row * self._size + field.start
        raw = bytes(self._content[start : start + field.size]).strip(b" \0")
        try:
            return _parse(raw, field.kind, self._codec)
        except UnicodeDecodeError as error:
            raise BadInput(f"feature {row + 1}: {field.name} is not valid {self._codec}") from error
        except ValueError as error:
            raise BadInput(f"feature {row + 1}: {field.name} is not a number: {raw[:40]!r}") from error


def _parse(raw: bytes, kind: str, codec: str) -> Any:
    if kind in "NF":
        if not raw or raw.strip(b"*") == b"":
            return None
        return int(raw) if raw.lstrip(b"+-").isdigit() else float(raw)
    if kind == "L":
        return {b"T": True, b"Y": True, b"F": False, b"N": False}.get(raw.upper())
    return raw.decode(codec) or None


def _codec(encoding: str | None) -> str:
    """The codec that a .cpg names; without one, what Windows wrote."""
    if encoding is None:
        return _LATIN
    name = encoding.strip().strip("\0")
    page = re.fullmatch(r"(?i)(?:cp|ansi|oem|windows)?[ _-]?(\d{3,5})", name)
    if page:
        name = {"65001": "utf-8", "88591": "latin-1"}.get(page[1], f"cp{page[1]}")
    try:
        b" ".decode(name)  # some codecs are known and give no text
        return codecs.lookup(name).name
    except (LookupError, ValueError) as error:
        raise BadInput(
            f"the .cpg of the shapefile names an unknown encoding: {encoding.strip()[:40]!r}"
        ) from error
