"""A coefficient layer of production size: 5.46 million synthetic parcels, as GeoParquet.

python -m benchmarks.assessment.scale parcels.parquet
"""

import argparse
import json
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import shapely

from assessment.arrays import Floats, Geometries
from assessment.bundle.parcels import Ground, bands
from assessment.formats.crs import grid_projjson

PARCELS = 5_459_418
AT_ONCE = 50_000  # parcels in memory, about


def write(path: Path, ground: Ground) -> None:
    """The layer as GeoParquet, with bounding boxes as a covering."""
    schema = _schema()
    with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        rows: list[tuple[Geometries, Floats, int]] = []
        for band in bands(ground):
            rows.append(band)
            if sum(len(polygons) for polygons, _, _ in rows) >= AT_ONCE:
                writer.write_table(_table(schema, rows))
                rows = []
        if rows:
            writer.write_table(_table(schema, rows))


def _schema() -> pyarrow.Schema:
    numbers = ["lu_curr_n_coeff", "lu_curr_p_coeff", "n_resi_coeff", "p_resi_coeff"]
    box = pyarrow.struct([(side, pyarrow.float64()) for side in ("xmin", "ymin", "xmax", "ymax")])
    covering = {"bbox": {side: ["bbox", side] for side in ("xmin", "ymin", "xmax", "ymax")}}
    about = {
        "encoding": "WKB",
        "geometry_types": ["Polygon"],
        "crs": grid_projjson(),
        "covering": covering,
    }
    geo = {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": about}}
    fields = [("crome_id", pyarrow.string()), *((name, pyarrow.float64()) for name in numbers)]
    schema = pyarrow.schema([*fields, ("bbox", box), ("geometry", pyarrow.binary())])
    return schema.with_metadata({"geo": json.dumps(geo)})


def _table(schema: pyarrow.Schema, rows: list[tuple[Geometries, Floats, int]]) -> pyarrow.Table:
    polygons = np.concatenate([polygons for polygons, _, _ in rows])
    coefficients = np.concatenate([values for _, values, _ in rows])
    first = rows[0][2]
    bounds = shapely.bounds(polygons)
    box = pyarrow.StructArray.from_arrays(
        [pyarrow.array(bounds[:, k]) for k in range(4)], ["xmin", "ymin", "xmax", "ymax"]
    )
    names = [f"P{first + k:08d}" for k in range(len(polygons))]
    arrays = [pyarrow.array(names), *(pyarrow.array(coefficients[:, k]) for k in range(4)), box]
    return pyarrow.Table.from_arrays(
        [*arrays, pyarrow.array(shapely.to_wkb(polygons), pyarrow.binary())], schema=schema
    )


def main() -> None:
    """Write the layer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--parcels", type=int, default=PARCELS)
    options = parser.parse_args()
    write(options.file, Ground(options.parcels))


if __name__ == "__main__":
    main()
