"""Results as GeoParquet 1.1, in EPSG:27700."""

import json
from pathlib import Path
from typing import Any

import shapely

from assessment.formats.crs import grid_projjson
from assessment.output.kinds import kind_of
from assessment.output.values import flat
from assessment.results import Table


def write(path: Path, table: Table) -> None:
    import pyarrow  # noqa: PLC0415 - only this format needs it
    import pyarrow.parquet  # noqa: PLC0415

    types = {"integer": pyarrow.int64(), "real": pyarrow.float64(), "text": pyarrow.string()}
    columns: dict[str, Any] = {}
    for column in table.columns:
        values = [flat(row[column]) for row in table.rows]
        kind = kind_of(values)
        clean = [None if v is None else str(v) for v in values] if kind == "text" else values
        columns[column] = pyarrow.array(clean, types[kind])
    metadata = {}
    if table.geometry is not None:
        columns["geometry"] = pyarrow.array(shapely.to_wkb(table.geometry).tolist(), pyarrow.binary())
        about = {"encoding": "WKB", "geometry_types": [], "crs": grid_projjson()}
        metadata["geo"] = json.dumps(
            {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": about}}
        )
    made = pyarrow.table(columns).replace_schema_metadata(metadata or None)
    pyarrow.parquet.write_table(made, path, compression="zstd")
