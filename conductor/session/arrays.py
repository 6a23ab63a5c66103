"""Arrays that pass from a claim to the outcome statement in the binary form that Postgres sent.

A batch of thousands costs one bytes object per column; an element is decoded only when it is accessed.
New values of outcomes use the same form: quoting texts for an array literal takes three times as long.
The binary form: a header (dimensions, flags, element type, count, lower bound), then (length, value) pairs.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self, overload
from uuid import UUID

from psycopg import adapt, pq
from psycopg.abc import AdaptContext, Buffer

_HEADER = 20
_COUNT = struct.Struct(">i")
_NULL = b"\xff\xff\xff\xff"
_FLOAT = struct.Struct(">id")


class _Column(Sequence[int]):
    """A one-dimensional array without nulls, of a type with a fixed width."""

    oid: ClassVar[int]
    element: ClassVar[int]
    pair: ClassVar[struct.Struct]
    __slots__ = ("_length", "raw")

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self._length = _COUNT.unpack_from(raw, 12)[0] if len(raw) >= _HEADER else 0

    @classmethod
    def of(cls, values: Sequence[int]) -> Self:
        """A column made here."""
        if not values:
            return cls(struct.pack(">iii", 0, 0, cls.element))
        width = cls.pair.size - 4
        head = struct.pack(">iiiii", 1, 0, cls.element, len(values), 1)
        return cls(head + b"".join([cls.pair.pack(width, value) for value in values]))

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> list[int]: ...
    def __getitem__(self, index: int | slice) -> int | list[int]:
        return self.values()[index]

    def values(self) -> list[int]:
        """All elements, decoded."""
        return [value for _, value in self.pair.iter_unpack(self.raw[_HEADER:])]


class BigInts(_Column):
    """bigint[]"""

    oid = 1016
    element = 20
    pair = struct.Struct(">iq")


class Ints(_Column):
    """integer[]"""

    oid = 1007
    element = 23
    pair = struct.Struct(">ii")


class Uuids(Sequence[UUID]):
    """uuid[]"""

    oid: ClassVar[int] = 2951
    __slots__ = ("_length", "raw")

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self._length = _COUNT.unpack_from(raw, 12)[0] if len(raw) >= _HEADER else 0

    @classmethod
    def of(cls, values: Sequence[UUID]) -> "Uuids":
        """A column made here."""
        if not values:
            return cls(struct.pack(">iii", 0, 0, 2950))
        head = struct.pack(">iiiii", 1, 0, 2950, len(values), 1)
        return cls(head + b"".join([b"\0\0\0\x10" + value.bytes for value in values]))

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> UUID: ...
    @overload
    def __getitem__(self, index: slice) -> list[UUID]: ...
    def __getitem__(self, index: int | slice) -> UUID | list[UUID]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self._length))]
        if not -self._length <= index < self._length:
            raise IndexError(index)
        start = _HEADER + 20 * (index % self._length) + 4
        return UUID(bytes=self.raw[start : start + 16])

    def as_sent(self) -> list[bytes]:
        """The elements as raw bytes: enough for lookups, at a tenth of the cost of UUID objects."""
        return [self.raw[start : start + 16] for start in range(_HEADER + 4, len(self.raw), 20)]


@dataclass(frozen=True, slots=True)
class Texts:
    """text[], for writing only; may hold nulls"""

    oid: ClassVar[int] = 1009
    raw: bytes

    @classmethod
    def of(cls, values: Sequence[str | None]) -> "Texts":
        """A column made here."""
        return cls(_nullable(25, [None if value is None else _text(value) for value in values]))


@dataclass(frozen=True, slots=True)
class Floats:
    """double precision[], for writing only; may hold nulls"""

    oid: ClassVar[int] = 1022
    raw: bytes

    @classmethod
    def of(cls, values: Sequence[float | None]) -> "Floats":
        """A column made here."""
        return cls(_nullable(701, [None if value is None else _FLOAT.pack(8, value) for value in values]))


def _text(value: str) -> bytes:
    data = value.encode()
    return _COUNT.pack(len(data)) + data


def _nullable(element: int, pairs: Sequence[bytes | None]) -> bytes:
    if not pairs:
        return struct.pack(">iii", 0, 0, element)
    head = struct.pack(">iiiii", 1, int(None in pairs), element, len(pairs), 1)
    return head + b"".join([_NULL if pair is None else pair for pair in pairs])


class _Loader(adapt.Loader):
    format = pq.Format.BINARY
    column: ClassVar[type[BigInts] | type[Ints] | type[Uuids]]

    def load(self, data: Buffer) -> "BigInts | Ints | Uuids":
        return self.column(bytes(data))


class _Dumper(adapt.Dumper):
    format = pq.Format.BINARY

    def dump(self, obj: "BigInts | Ints | Uuids | Texts | Floats") -> Buffer:
        return obj.raw


def register(context: AdaptContext) -> None:
    """Register these array types on a connection, for writing and for reading claims."""
    for kind in (BigInts, Ints, Uuids):
        loader = type(f"{kind.__name__}Loader", (_Loader,), {"column": kind})
        context.adapters.register_loader(kind.oid, loader)
    for made in (BigInts, Ints, Uuids, Texts, Floats):
        dumper = type(f"{made.__name__}Dumper", (_Dumper,), {"oid": made.oid})
        context.adapters.register_dumper(made, dumper)
