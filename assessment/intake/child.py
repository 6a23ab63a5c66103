"""The process with limits: reads, validates and repairs one file, and writes the answer.

Imported by the server that forks these processes (`switchyard.process.bounded`), with GDAL's settings in its
environment; a forked process inherits the imported modules, so they are not imported again for each file.
"""

import contextlib
import gc
import sys
import time
import warnings
from pathlib import Path

from assessment.formats import gdal

for _name in gdal.BLOCKED:
    sys.modules.setdefault(_name, None)  # type: ignore[arg-type]
import pyogrio.raw  # noqa: E402

for _name in ("pyarrow", "pyproj"):  # pandas stays blocked, or pyarrow would import it
    if sys.modules[_name] is None:
        del sys.modules[_name]

import numpy as np  # noqa: E402
import shapely  # noqa: E402

from assessment.formats.read import features  # noqa: E402
from assessment.intake import accept, answer, jail  # noqa: E402

_WARM = ("/vsimem/warm.shp", "/vsimem/warm.gpkg")


def warm() -> None:
    """Use GDAL and PROJ before there is a file: they open their data on first use, again after a fork."""
    gdal.check_drivers()
    shape = shapely.to_wkb(np.array([shapely.box(6e5, 3e5, 6e5 + 1, 3e5 + 1)]))
    for path, driver in zip(_WARM, ("ESRI Shapefile", "GPKG"), strict=True):
        pyogrio.raw.write(
            path,
            shape,
            [np.array(["a"], object)],
            ["Name"],
            driver=driver,
            geometry_type="Polygon",
            crs="EPSG:27700",
        )
        gdal.read(path, "shapefile", None, 10)


def read(path: str, kind: str, layer: str | None, target: str, most: int, limit: int) -> dict[str, float]:
    """Write the answer to `target`, or raise BadInput with the reason. Returns the CPU seconds used."""
    began = time.process_time()
    gc.disable()  # this process ends after one file
    gdal.check_drivers()
    warnings.simplefilter("ignore")
    jail.enter(Path(path), Path(target).parent)
    with contextlib.redirect_stderr(None):
        found = accept.KINDS[kind](features(Path(path), layer, most, limit))
    answer.write(Path(target), found)
    return {"cpu": time.process_time() - began}
