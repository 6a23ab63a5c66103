"""GeoParquet with WKB geometry. pyarrow is imported when the first such file comes."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from assessment.formats import wkb
from assessment.formats.source import BATCH, Batch
from switchyard.errors import BadInput

DEFAULT_CRS = "OGC:CRS84"


class GeoParquet:
    def __init__(self, path: Path) -> None:
        import pyarrow  # noqa: PLC0415 - costs a tenth of a second that other formats need not pay
        import pyarrow.parquet  # noqa: PLC0415

        try:
            self._file = pyarrow.parquet.ParquetFile(path)
        except (pyarrow.ArrowException, OSError) as error:
            raise BadInput(f"{path.name} is not a sound Parquet file: {_said(error)}") from error
        self._errors = (pyarrow.ArrowException, OSError)
        names = self._file.schema_arrow.names
        self._geometry, about = _geometry_column(self._file.schema_arrow.metadata, path)
        if names.count(self._geometry) != 1:
            raise BadInput(f"{path.name}: there is no one column {self._geometry[:80]!r} of geometry")
        self.crs: str | None = _crs(about)
        self.fields: Sequence[str] = [n for n in names if names.count(n) == 1 and n != self._geometry]

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        first = 1
        try:
            for part in self._file.iter_batches(BATCH, columns=[self._geometry, *columns]):
                contents = part.column(self._geometry).to_numpy(zero_copy_only=False)
                yield Batch(wkb.read(contents, first), {c: _values(part.column(c)) for c in columns})
                first += part.num_rows
        except self._errors as error:
            raise BadInput(f"the Parquet is damaged after feature {first - 1}: {_said(error)}") from error


def _geometry_column(metadata: Mapping[bytes, bytes] | None, path: Path) -> tuple[str, Mapping[str, Any]]:
    try:
        geo = json.loads((metadata or {})[b"geo"])
        name = geo["primary_column"]
        about = dict(geo["columns"][name])
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(f"{path.name} is Parquet but not GeoParquet: it has no geo metadata") from error
    if about.get("encoding") != "WKB":
        raise BadInput(
            f"{path.name}: the geometry encoding {about.get('encoding')!r} is not read here; use WKB"
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
    if str(column.type) == "double" and not column.null_count:
        numbers: Sequence[Any] = column.to_numpy()
        return numbers
    values: Sequence[Any] = column.to_pylist()
    return values
