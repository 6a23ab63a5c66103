"""Input files for the tests, good and bad, written with pyogrio so that the readers meet what GDAL writes."""

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import geopandas
import pyogrio
import pytest
import shapely

from assessment.intake.upload import nutrient_sites
from switchyard.errors import BadInput
from switchyard.process.exit import Exit
from tests.unit.assessment.world import box

GOOD: Mapping[str, Any] = {
    "id": "S1",
    "Name": "Field",
    "Dwel_Cat": "allocation",
    "Source": "test",
    "Dwellings": 12,
}


def frame(shapes: Sequence[Any] | None = None, crs: str | None = "EPSG:27700", **columns: Any) -> Any:
    """A GeoDataFrame of sites; columns given as lists, or one value for all."""
    shapes = shapes if shapes is not None else [box(0, 0, 100, 100)]
    values = {key: columns.get(key, value) for key, value in GOOD.items()}
    data = {key: value if isinstance(value, list) else [value] * len(shapes) for key, value in values.items()}
    return geopandas.GeoDataFrame(data, geometry=list(shapes), crs=crs)


def write(path: Path, sites: Any, **options: Any) -> Path:
    """In the format that the file's name asks for."""
    if path.suffix == ".parquet":
        sites.to_parquet(path)
    elif path.suffix == ".zip":
        folder = path.with_suffix("")
        folder.mkdir(exist_ok=True)
        pyogrio.write_dataframe(sites, folder / "sites.shp", **options)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for member in sorted(folder.iterdir()):
                archive.write(member, member.name)
    else:
        pyogrio.write_dataframe(sites, path, **options)
    return path


def members(folder: Path) -> dict[str, bytes]:
    """The files of one good shapefile by name."""
    pyogrio.write_dataframe(frame(), folder / "sites.shp")
    return {path.name: path.read_bytes() for path in sorted(folder.glob("sites.*"))}


def refused(path: Path, message: str) -> None:
    """One sentence that says what is wrong, and the exit code of bad input."""
    with pytest.raises(BadInput, match=message) as caught:
        nutrient_sites(path)
    assert caught.value.exit_code is Exit.BAD_INPUT
    assert "\n" not in str(caught.value)


def zipped(path: Path, entries: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


DONUT = shapely.difference(box(0, 0, 100, 100), box(40, 40, 60, 60))
TWO = shapely.MultiPolygon([DONUT, box(200, 0, 300, 80)])
