"""Results as GeoParquet 1.1, in EPSG:27700."""

import json
from pathlib import Path
from typing import Any

import shapely

from assessment.formats.crs import grid_projjson
from assessment.results import Table


def write(path: Path, table: Table) -> None:
    import pyarrow  # noqa: PLC0415 - only this format needs it
    import pyarrow.parquet  # noqa: PLC0415

    text = pyarrow.string()
    types = {"integer": pyarrow.int64(), "real": pyarrow.float64(), "text": text, "list": text}
    columns: dict[str, Any] = {
        column: pyarrow.array(table.values(column), types[kind]) for column, kind in table.columns.items()
    }
    metadata = {}
    if table.geometry is not None:
        columns["geometry"] = pyarrow.array(shapely.to_wkb(table.geometry).tolist(), pyarrow.binary())
        about = {"encoding": "WKB", "geometry_types": [], "crs": grid_projjson()}
        metadata["geo"] = json.dumps(
            {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": about}}
        )
    made = pyarrow.table(columns).replace_schema_metadata(metadata or None)
    pyarrow.parquet.write_table(made, path, compression="zstd")
