"""GeoParquet with WKB geometry. pyarrow is imported when the first such file comes.

A small file may stand for much: pages are packed, and one value in the file can be the value of every row.
So texts and geometries are read as the dictionaries that they are stored as, and spelled out a portion at a
time; what is nested or has a fixed width cannot be read so, and is left out where it could be large.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from assessment.formats import wkb
from assessment.formats.source import BATCH, Batch
from switchyard.errors import BadInput

if TYPE_CHECKING:
    import pyarrow

DEFAULT_CRS = "OGC:CRS84"
PORTION = 64 * 2**20
"""Bytes of texts and geometries that are spelled out at once, or one feature."""
WIDEST = 64
"""Bytes of a value whose width is fixed: a uuid or a decimal, not a text."""


class GeoParquet:
    def __init__(self, path: Path, limit: int | None = None) -> None:
        import pyarrow  # noqa: PLC0415 - costs a tenth of a second that other formats need not pay
        import pyarrow.parquet  # noqa: PLC0415

        self._errors = (pyarrow.ArrowException, OSError)
        self._limit = limit
        try:
            file = pyarrow.parquet.ParquetFile(path)
            schema = file.schema_arrow
            self._geometry, about = _geometry_column(schema.metadata, path)
            if schema.names.count(self._geometry) != 1:
                raise BadInput(
                    f"{path.name}: there is not exactly one column {self._geometry[:80]!r} of geometry"
                )
            if not _varies(schema.field(self._geometry).type):
                raise BadInput(f"{path.name}: the column {self._geometry[:80]!r} does not contain WKB")
            once = [field for field in schema if schema.names.count(field.name) == 1]
            texts = [field.name for field in once if _varies(field.type)]
            self._file = pyarrow.parquet.ParquetFile(path, metadata=file.metadata, read_dictionary=texts)
        except self._errors as error:
            raise BadInput(f"{path.name} is not a valid Parquet file: {_said(error)}") from error
        self._taken(sum(file.metadata.row_group(k).total_byte_size for k in range(file.num_row_groups)))
        self.crs: str | None = _crs(about)
        self.fields: Sequence[str] = [
            field.name
            for field in once
            if field.name != self._geometry and (_varies(field.type) or _is_narrow(field.type))
        ]

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        first, unpacked = 1, 0
        try:
            for batch in self._file.iter_batches(BATCH, columns=[self._geometry, *columns]):
                for part, size in _portions(batch):
                    unpacked += size
                    self._taken(unpacked)
                    contents = part.column(self._geometry).dictionary_decode().to_numpy(zero_copy_only=False)
                    yield Batch(wkb.read(contents, first), {c: _values(part.column(c)) for c in columns})
                    first += part.num_rows
        except self._errors as error:
            raise BadInput(f"the Parquet is damaged after feature {first - 1}: {_said(error)}") from error

    def _taken(self, size: int) -> None:
        if self._limit is not None and size > self._limit:
            raise BadInput(f"the Parquet unpacks to more than {self._limit // 2**20} MiB")


def _varies(kind: "pyarrow.DataType") -> bool:
    """Texts and bytes of any length, which a file can hold once for many rows."""
    from pyarrow import types  # noqa: PLC0415

    texts = (types.is_string, types.is_large_string, types.is_string_view)
    raw = (types.is_binary, types.is_large_binary, types.is_binary_view)
    return any(is_so(kind) for is_so in (*texts, *raw))


def _is_narrow(kind: "pyarrow.DataType") -> bool:
    """Whatever takes a few bytes a row, or is a dictionary in the file's own words."""
    from pyarrow import types  # noqa: PLC0415

    if types.is_dictionary(kind):
        return _varies(kind.value_type) or _is_narrow(kind.value_type)
    if types.is_fixed_size_binary(kind):
        return bool(kind.byte_width <= WIDEST)
    return any(is_so(kind) for is_so in (types.is_primitive, types.is_decimal, types.is_null))


def _portions(batch: "pyarrow.RecordBatch") -> Iterator[tuple["pyarrow.RecordBatch", int]]:
    """Slices that can be spelled out, and how long each is then."""
    ends = np.cumsum(sum((_lengths(column) for column in batch.columns), np.zeros(batch.num_rows, np.int64)))
    start, done = 0, 0
    while start < batch.num_rows:
        stop = max(start + 1, int(np.searchsorted(ends, done + PORTION, "right")))
        yield batch.slice(start, stop - start), int(ends[stop - 1]) - done
        start, done = stop, int(ends[stop - 1])


def _lengths(column: "pyarrow.Array") -> Any:
    """Bytes of each value of a column that is read as a dictionary; others are narrow."""
    from pyarrow import compute, types  # noqa: PLC0415

    if not (types.is_dictionary(column.type) and _varies(column.type.value_type)):
        return 0
    lengths = compute.binary_length(column.dictionary).take(column.indices)
    return lengths.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)


def _geometry_column(metadata: Mapping[bytes, bytes] | None, path: Path) -> tuple[str, Mapping[str, Any]]:
    try:
        geo = json.loads((metadata or {})[b"geo"])
        name = geo["primary_column"]
        about = dict(geo["columns"][name])
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(f"{path.name} is Parquet but not GeoParquet: it has no geo metadata") from error
    if about.get("encoding") != "WKB":
        raise BadInput(
            f"{path.name}: the geometry encoding {about.get('encoding')!r} is not supported; use WKB"
        )
    return str(name), about


def _crs(about: Mapping[str, Any]) -> str | None:
    """A missing crs means longitude and latitude, a null one means unknown."""
    if "crs" not in about:
        return DEFAULT_CRS
    crs = about["crs"]
    if crs is None:
        return None
    if not isinstance(crs, dict):
        return str(crs)
    code = crs.get("id")
    if isinstance(code, dict) and code.get("authority") and code.get("code"):
        return f"{code['authority']}:{code['code']}"
    return json.dumps(crs)


def _said(error: Exception) -> str:
    """In one line, as all our messages."""
    return " ".join(str(error).split())


def _values(column: Any) -> Sequence[Any]:
    """Python values; a column of floats as the array that it is, for a layer has millions of them."""
    from pyarrow import types  # noqa: PLC0415

    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if str(column.type) == "double" and not column.null_count:
        numbers: Sequence[Any] = column.to_numpy()
        return numbers
    values: Sequence[Any] = column.to_pylist()
    return values
