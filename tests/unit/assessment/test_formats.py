"""The readers against what GDAL writes: the same sites, whatever the file."""

import json
from hashlib import sha256
from pathlib import Path

import geopandas
import numpy as np
import pyproj
import pytest
import shapely

from assessment.formats.layers import LayerSource
from assessment.formats.lonlat import from_grid
from assessment.intake.upload import nutrient_sites
from assessment.provenance import hash_of
from tests.unit.assessment.files import DONUT, TWO, frame, members, write, zipped
from tests.unit.assessment.world import box

FORMATS = ["sites.zip", "sites.shp", "sites.gpkg", "sites.geojson", "sites.parquet"]


@pytest.mark.parametrize("name", FORMATS)
def test_the_same_sites_from_every_format(tmp_path: Path, name: str) -> None:
    shapes = [DONUT, TWO, box(5, 5, 6, 6)]
    given = frame(shapes, id=["a", "b", "c"], Name=["Zoë's Acre", None, "C"], Dwellings=[1, 0, 400])
    sites = nutrient_sites(write(tmp_path / name, given))
    assert sites.id == ("a", "b", "c")
    assert sites.name == ("Zoë's Acre", None, "C")
    assert sites.dwellings == (1, 0, 400)
    assert sites.number == (1, 2, 3)
    assert sites.area == pytest.approx([float(shape.area) for shape in shapes], abs=1e-6)
    assert all(shapely.equals(a, b) for a, b in zip(sites.geometry, shapes, strict=True))


@pytest.mark.parametrize("name", FORMATS)
def test_longitude_and_latitude_are_really_reprojected(tmp_path: Path, name: str) -> None:
    shapes = [DONUT]
    given = frame(shapes).to_crs("EPSG:4326")
    sites = nutrient_sites(write(tmp_path / name, given))
    assert sites.area == pytest.approx([shapes[0].area], rel=1e-4)
    assert shapely.distance(shapely.centroid(sites.geometry[0]), shapely.centroid(shapes[0])) < 0.01


@pytest.mark.filterwarnings("ignore:Best transformation is not available")
def test_the_grid_to_longitude_and_latitude_as_proj_has_it() -> None:
    """EPSG:1314 named, for PROJ takes another one for points at sea, or a correction grid where it finds one."""
    generator = np.random.default_rng(27700)
    coords = generator.uniform((0, 0), (700_000, 1_300_000), (5_000, 2))
    steps = pyproj.transformer.TransformerGroup("EPSG:27700", "EPSG:4326", always_xy=True).transformers
    helmert = next(step for step in steps if "OSGB36 to WGS 84 (6)" in step.description)
    expected = np.column_stack(helmert.transform(coords[:, 0], coords[:, 1]))
    assert np.abs(from_grid(coords) - expected).max() < 1e-9


def test_geojson_without_a_crs_is_longitude_and_latitude(tmp_path: Path) -> None:
    path = write(tmp_path / "sites.geojson", frame().to_crs("EPSG:4326"))
    document = json.loads(path.read_text())
    document.pop("crs", None)
    path.write_text(json.dumps(document))
    assert nutrient_sites(path).area == pytest.approx([10_000], rel=1e-4)


def test_the_hash_of_an_input_covers_all_that_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "sites.shp", frame())
    before = hash_of(path)
    write(tmp_path / "sites.shp", frame(Dwellings=13))
    assert hash_of(path) != before, "the dwellings are in the .dbf"
    alone = write(tmp_path / "sites.gpkg", frame())
    assert hash_of(alone) == sha256(alone.read_bytes()).hexdigest()


def test_heights_are_dropped(tmp_path: Path) -> None:
    given = frame([shapely.force_3d(TWO, 12.5)])
    for name in FORMATS:
        sites = nutrient_sites(write(tmp_path / name, given))
        assert not shapely.has_z(sites.geometry).any()
        assert sites.area == pytest.approx([TWO.area])


def test_a_zip_from_a_mac_with_a_folder(tmp_path: Path) -> None:
    good = members(tmp_path)
    entries = {f"upload/{name}": content for name, content in good.items()}
    entries["__MACOSX/upload/._sites.shp"] = b"\x00\x05\x16\x07"
    entries["upload/._sites.dbf"] = b"\x00\x05\x16\x07"
    assert len(nutrient_sites(zipped(tmp_path / "mac.zip", entries))) == 1


def test_names_in_another_case_and_numbers_as_text(tmp_path: Path) -> None:
    given = frame().rename(columns={"id": "ID", "Dwellings": "DWELLINGS"})
    given["DWELLINGS"] = "12"
    given["ID"] = 4711.0
    sites = nutrient_sites(write(tmp_path / "sites.geojson", given))
    assert (sites.id, sites.dwellings) == (("4711",), (12,))


@pytest.mark.parametrize("encoding", ["UTF-8", "ISO-8859-1", "CP1252"])
def test_encodings_of_a_shapefile(tmp_path: Path, encoding: str) -> None:
    sites = nutrient_sites(write(tmp_path / "sites.zip", frame(Name="Café Möwe"), encoding=encoding))
    assert sites.name == ("Café Möwe",)


def test_an_attribute_called_like_sql(tmp_path: Path) -> None:
    given = frame()
    given['x"; drop table sites; --'] = 1
    given["select"] = "1; delete from gpkg_contents"
    for name in ("sites.gpkg", "sites.geojson", "sites.parquet"):
        path = write(tmp_path / name, given)
        source = LayerSource(path)
        assert 'x"; drop table sites; --' in source.fields
        batch = next(iter(source.batches(["select"])))
        assert list(batch.columns["select"]) == ["1; delete from gpkg_contents"]
        assert len(nutrient_sites(path)) == 1


def test_self_touching_rings_and_bow_ties_are_repaired(tmp_path: Path) -> None:
    touching = shapely.Polygon([(0, 0), (10, 0), (10, 10), (5, 5), (5, 8), (5, 5), (0, 10)])
    bow = shapely.Polygon([(0, 0), (10, 10), (10, 0), (0, 10)])
    shapes = [
        shapely.transform(shape, lambda c: c + np.array([600_000, 300_000])) for shape in (touching, bow)
    ]
    sites = nutrient_sites(write(tmp_path / "sites.gpkg", frame(shapes, id=["a", "b"])))
    assert shapely.is_valid(sites.geometry).all()
    assert sites.area == pytest.approx([75, 50])


def test_a_million_vertices(tmp_path: Path) -> None:
    angles = np.linspace(0, 2 * np.pi, 1_000_000, endpoint=False)
    wobble = 1000 + np.cos(angles * 50_000) * 0.5
    ring = np.column_stack((600_000 + np.cos(angles) * wobble, 300_000 + np.sin(angles) * wobble))
    site = shapely.polygons(ring)
    sites = nutrient_sites(write(tmp_path / "sites.parquet", frame([site])))
    assert shapely.get_num_coordinates(sites.geometry[0]) > 1_000_000
    assert sites.area == pytest.approx([site.area])


def test_shapefile_holes_drawn_either_way(tmp_path: Path) -> None:
    """Islands in lakes on islands, as GDAL orders their rings."""
    island = shapely.MultiPolygon([shapely.difference(box(0, 0, 90, 90), box(10, 10, 80, 80)), DONUT_IN_LAKE])
    sites = nutrient_sites(write(tmp_path / "sites.shp", frame([island])))
    assert shapely.equals(sites.geometry[0], island)


DONUT_IN_LAKE = shapely.difference(box(20, 20, 70, 70), box(30, 30, 60, 60))


def test_reference_layers_read_the_same_as_with_geopandas(nrf: Path) -> None:
    for path in sorted((nrf / "reference").glob("*.gpkg")):
        theirs = geopandas.read_file(path)
        ours = np.concatenate([batch.geometry for batch in LayerSource(path).batches([])])
        assert shapely.area(ours) == pytest.approx(theirs.geometry.area.to_numpy())
