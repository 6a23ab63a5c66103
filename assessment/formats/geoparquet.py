"""GeoParquet, with geometry as WKB or native (GeoArrow); pyarrow is imported on first use."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from assessment.arrays import Geometries
from switchyard.errors import BadInput

if TYPE_CHECKING:
    import pyarrow

DEFAULT_CRS = "OGC:CRS84"
MOST_COLUMNS = 2000


class GeoParquet:
    """An open file; every problem is a BadInput that describes it."""

    def __init__(self, path: Path, limit: int | None = None) -> None:
        import pyarrow  # noqa: PLC0415 - costs a tenth of a second that other formats need not pay
        import pyarrow.parquet  # noqa: PLC0415

        self._errors = (pyarrow.ArrowException, OSError)
        try:
            self._file = pyarrow.parquet.ParquetFile(path)
            schema = self._file.schema_arrow
        except self._errors as error:
            raise BadInput(f"{path.name} is not a valid Parquet file: {_said(error)}") from error
        if len(schema) > MOST_COLUMNS:
            raise BadInput(f"{path.name} has {len(schema):,} columns; at most {MOST_COLUMNS:,} are accepted")
        groups = self._file.metadata
        unpacked = sum(groups.row_group(k).total_byte_size for k in range(groups.num_row_groups))
        if limit is not None and unpacked > limit:
            raise BadInput(f"the Parquet unpacks to more than {limit // 2**20} MiB")
        self._name, about = _geometry_column(schema.metadata, path)
        self._encoding = str(about.get("encoding"))
        times = Counter(schema.names)
        if times[self._name] != 1:
            raise BadInput(f"{path.name}: there is not exactly one column {self._name[:80]!r} of geometry")
        self.crs: str | None = _crs(about)
        self.fields: Sequence[str] = [
            field.name for field in schema if times[field.name] == 1 and _is_plain(field, self._name)
        ]
        self.rows = groups.num_rows

    def batches(self, columns: Sequence[str], size: int) -> Iterator[tuple[Any, Mapping[str, Any]]]:
        """Yield (geometry, columns), `size` features at a time."""
        first = 1
        try:
            for batch in self._file.iter_batches(size, columns=[self._name, *columns], use_threads=False):
                geometry = _geometry(batch.column(self._name), self._encoding)
                yield geometry, {column: values(batch.column(column)) for column in columns}
                first += batch.num_rows
        except self._errors as error:
            if isinstance(error, MemoryError):
                raise
            raise BadInput(f"the Parquet is damaged after feature {first - 1}: {_said(error)}") from error


def _is_plain(field: "pyarrow.Field", geometry: str) -> bool:
    """Whether a column is scalar: nested columns are not attributes of a site."""
    from pyarrow import types  # noqa: PLC0415

    return field.name != geometry and not types.is_nested(field.type)


def _geometry(column: "pyarrow.Array", encoding: str) -> Any:
    from pyarrow import types  # noqa: PLC0415

    storage = getattr(column, "storage", column)
    if types.is_dictionary(storage.type):
        storage = storage.dictionary_decode()
    if encoding == "WKB":
        if not any(is_so(storage.type) for is_so in _bytes()):
            raise BadInput(f"the column of geometry holds {storage.type}, not WKB")
        return storage.to_numpy(zero_copy_only=False)
    return _native(storage, encoding)


def _bytes() -> Sequence[Any]:
    from pyarrow import types  # noqa: PLC0415

    return (types.is_binary, types.is_large_binary, types.is_binary_view, types.is_fixed_size_binary)


def _native(column: "pyarrow.Array", encoding: str) -> Geometries:
    """Geometries from nested lists of coordinates, by their offset arrays."""
    import shapely  # noqa: PLC0415

    depth = {"polygon": 2, "multipolygon": 3}.get(encoding)
    if depth is None:
        raise BadInput(
            f"the geometry encoding {encoding[:40]!r} is not supported; use WKB, polygon or multipolygon"
        )
    _check_nested(column.type, depth, encoding)
    offsets, inner, missing = [], column, column.is_null().to_numpy(zero_copy_only=False)
    for _ in range(depth):
        offsets.append(inner.offsets.to_numpy().astype(np.int64))
        inner = inner.values
    coords = np.column_stack([inner.field(axis).to_numpy() for axis in ("x", "y")])
    kind = shapely.GeometryType.POLYGON if depth == 2 else shapely.GeometryType.MULTIPOLYGON
    made = shapely.from_ragged_array(kind, coords, tuple(reversed(offsets)))
    made[missing] = None
    return np.asarray(made, dtype=object)


def _check_nested(kind: "pyarrow.DataType", depth: int, encoding: str) -> None:
    import pyarrow  # noqa: PLC0415
    from pyarrow import types  # noqa: PLC0415

    inner = kind
    for _ in range(depth):
        inner = inner.value_type if types.is_list(inner) or types.is_large_list(inner) else pyarrow.null()
    if not types.is_struct(inner) or not {"x", "y"} <= {field.name for field in inner}:
        raise BadInput(f"the column of geometry holds {str(kind)[:80]}, not {encoding}s")


def values(column: Any) -> Any:
    """Values as Python objects; float columns stay arrays, since a layer has millions of values."""
    from pyarrow import types  # noqa: PLC0415

    column = getattr(column, "storage", column)
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if str(column.type) == "double" and not column.null_count:
        return column.to_numpy(zero_copy_only=False)
    return column.to_pylist()


def _geometry_column(metadata: Mapping[bytes, bytes] | None, path: Path) -> tuple[str, Mapping[str, Any]]:
    try:
        geo = json.loads((metadata or {})[b"geo"])
        name = geo["primary_column"]
        about = dict(geo["columns"][name])
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(f"{path.name} is Parquet but not GeoParquet: it has no geo metadata") from error
    return str(name), about


def _crs(about: Mapping[str, Any]) -> str | None:
    """The coordinate system: a missing crs means longitude and latitude, a null one means unknown."""
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
    """A message in one line, like all our messages."""
    return " ".join(str(error).split())[:300]
