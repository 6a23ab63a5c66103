"""What the process with limits does with its one file: read, validate, repair, leave an answer.

Imported by the server that forks these processes (`switchyard.process.bounded`), with GDAL's settings in its
environment; what a process inherits ready to use is not imported again for each file.
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
    """GDAL and PROJ open their data on first use, again after a fork: done before there is a file."""
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
    """The answer is in `target`; a BadInput says why not. Returns the CPU seconds that it took."""
    began = time.process_time()
    gc.disable()  # this process ends with the file
    gdal.check_drivers()
    warnings.simplefilter("ignore")
    jail.enter(Path(path), Path(target).parent)
    with contextlib.redirect_stderr(None):
        found = accept.KINDS[kind](features(Path(path), layer, most, limit))
    answer.write(Path(target), found)
    return {"cpu": time.process_time() - began}
