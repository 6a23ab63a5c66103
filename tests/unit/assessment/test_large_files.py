"""A large file is read in batches of columns: what comes of it must not depend on that."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyogrio
import pytest
import shapely

from assessment.formats import arrow, gdal, read
from assessment.formats.detect import format_of
from assessment.intake import attributes
from assessment.intake.reader import Reader
from assessment.intake.upload import nutrient_sites
from tests.unit.assessment import corpus
from tests.unit.assessment.corpus import Made
from tests.unit.assessment.files import frame, write
from tests.unit.assessment.world import box


def forms(folder: Path) -> Iterator[Made]:
    for kind in corpus.FORMATS:
        (folder / kind).mkdir()
        yield from corpus.everywhere(kind, folder / kind)
    for make in (corpus.jsons, corpus.encodings, corpus.layers, corpus.markup):
        (folder / make.__name__).mkdir()
        yield from make(folder / make.__name__)


@pytest.mark.filterwarnings("ignore")
def test_both_ways_give_the_same(tmp_path: Path) -> None:
    quick = 0
    for made in forms(tmp_path):
        kind = format_of(made.path)
        if kind == "parquet":
            continue
        place = read._place(made.path, kind, 2**30)
        words = (place.name, place.kind, made.layer, 1000, place.text.encoding)
        slow = gdal.read(*words, ids=place.ids)
        fast = gdal.read(*words, ids=place.ids, large=True)
        assert (fast.crs, list(fast.columns)) == (slow.crs, list(slow.columns)), made.path
        assert shapely.equals_exact(flat(fast.shapes), flat(slow.shapes)).all(), made.path
        for name in slow.columns:
            assert texts(fast, name) == texts(slow, name), (made.path, name)
        quick += isinstance(fast.shapes[0], shapely.Geometry)
    assert quick > 100, "pyarrow was used for hardly any"


def flat(shapes: Any) -> Any:
    return shapely.force_2d(read._parsed(shapes))


def texts(found: gdal.Read, name: str) -> tuple[str | None, ...]:
    values = read.Features(None, False, np.empty(0), found.columns).listed(name)
    return tuple(map(attributes.text, values))


def test_a_file_above_the_limit_is_read_by_the_process_with_limits(tmp_path: Path) -> None:
    shapes = [shapely.buffer(box(40 * k, 0, 40 * k + 20, 20), 5, quad_segs=60) for k in range(600)]
    path = write(tmp_path / "sites.gpkg", frame(shapes, id=list(range(600)), Dwellings=list(range(600))))
    assert path.stat().st_size > read.LARGE
    reader = Reader()
    sites = nutrient_sites(path, None, reader)
    reader.close()
    assert shapely.to_wkb(sites.geometry).tolist() == shapely.to_wkb(shapes).tolist()
    assert (sites.id[:2], sites.dwellings[-1]) == (("0", "1"), 599)


def test_what_is_unusual_is_read_feature_by_feature(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise NotImplementedError("a curve")

    path = tmp_path / "sites.gpkg"
    pyogrio.write_dataframe(frame(), path)
    monkeypatch.setattr(shapely, "from_wkb", refuse)
    assert arrow.read(str(path), 10, {}) is None
    assert isinstance(gdal.read(str(path), "sqlite", None, 10, large=True).shapes[0], bytes)
