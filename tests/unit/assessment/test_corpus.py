"""Every format, in the ways that programs write it, gives the sites that were written, to a micrometre."""

import math
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pyogrio
import pytest

from assessment.intake.reader import Reader
from assessment.intake.upload import nutrient_sites
from switchyard.errors import BadInput
from tests.unit.assessment import corpus
from tests.unit.assessment.corpus import Made
from tests.unit.assessment.files import frame
from tests.unit.assessment.world import box

AT_LEAST = 150
GROUPS: dict[str, Callable[[Path], Iterator[Made]]] = {
    "markup": corpus.markup,
    "parquet writers": corpus.parquets,
    "GeoJSON writers": corpus.jsons,
    "encodings": corpus.encodings,
    "layers": corpus.layers,
    **{kind: partial(corpus.everywhere, kind) for kind in corpus.FORMATS},
}


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    reader = Reader()
    yield reader
    reader.close()


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.filterwarnings("ignore")
def test_a_format_in_all_its_forms(tmp_path: Path, reader: Reader, group: str) -> None:
    for made in GROUPS[group](tmp_path):
        sites = nutrient_sites(made.path, made.layer, reader)
        assert len(sites) == len(made.shapes), made
        assert made.name is None or set(sites.name) == {made.name}, made
        for found, expected in zip(sites.geometry, made.shapes, strict=True):
            assert corpus.same(found, expected, made.off), (made.path, found.wkt[:200], expected.wkt[:200])


@pytest.mark.filterwarnings("ignore")
def test_the_corpus_is_large_enough(tmp_path: Path) -> None:
    count = 0
    for k, make in enumerate(GROUPS.values()):
        (tmp_path / str(k)).mkdir()
        count += sum(1 for _ in make(tmp_path / str(k)))
    assert count >= AT_LEAST


@pytest.mark.filterwarnings("ignore")
def test_curves_are_read_as_what_they_enclose(tmp_path: Path, reader: Reader) -> None:
    circle = nutrient_sites(corpus.curved(tmp_path, corpus.CURVE), None, reader)
    assert circle.area[0] == pytest.approx(math.pi * 100**2, rel=1e-4)
    shapes = [box(0, 0, 10, 10), box(20, 0, 30, 10)]
    (tmp_path / "more").mkdir()
    surface = nutrient_sites(corpus.curved(tmp_path / "more", corpus.surface(shapes)), None, reader)
    assert surface.area[0] == 200


def test_edits_in_the_write_ahead_log_count(tmp_path: Path, reader: Reader) -> None:
    """As QGIS leaves a GeoPackage that it has open."""
    path = tmp_path / "sites.gpkg"
    pyogrio.write_dataframe(frame(), path, driver="GPKG", SPATIAL_INDEX="NO", layer="sites")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("pragma journal_mode = wal")
        connection.execute("update sites set Dwellings = 999")
        connection.commit()
        assert (tmp_path / "sites.gpkg-wal").stat().st_size > 0
        assert nutrient_sites(path, None, reader).dwellings == (999,)


def test_one_of_several_layers_has_to_be_named(tmp_path: Path, reader: Reader) -> None:
    path = tmp_path / "sites.gpkg"
    for layer in ("a", "b"):
        pyogrio.write_dataframe(frame(), path, driver="GPKG", layer=layer)
    with pytest.raises(BadInput, match=r'has 2 feature layers: a, b; name one \(--layer, or "layer"\)'):
        nutrient_sites(path, None, reader)
    with pytest.raises(BadInput, match="one feature layer is needed, c; the file has a, b"):
        nutrient_sites(path, "c", reader)
    assert len(nutrient_sites(path, "b", reader)) == 1
