"""A few kilobytes of Parquet that stand for gigabytes: refused, and never spelled out."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import shapely

from assessment.formats import geoparquet
from assessment.formats.open import open_source
from switchyard.errors import BadInput
from tests.unit.assessment.files import frame, refused, write

ROWS = 90_000
RING = shapely.to_wkb(shapely.Point(400_000, 300_000).buffer(50, quad_segs=1000))
MEMORY = 3 * 2**30
READ = """
import resource, sys
from pathlib import Path
from assessment.intake.accept import nutrient_sites
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[2]), int(sys.argv[2])))
nutrient_sites(Path(sys.argv[1]))
"""


def spread(folder: Path, rows: int, **values: Any) -> Path:
    """One site so many times, with some values changed; the file holds each of them once."""
    path = write(folder / "sites.parquet", frame())
    good = pyarrow.parquet.read_table(path)
    index = pyarrow.array(np.zeros(rows, np.int32))
    columns = {}
    for name in good.column_names:
        value = pyarrow.array([values[name]]) if name in values else good[name].chunk(0)
        columns[name] = pyarrow.DictionaryArray.from_arrays(index, value)
    table = pyarrow.table(columns)
    with pyarrow.parquet.ParquetWriter(path, table.schema, store_schema=False) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({"geo": good.schema.metadata[b"geo"].decode()})
    return path


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"geometry": RING}, "more than 100,000 features or 20,000,000 vertices in one file"),
        ({"Name": "x" * 2**20}, "the Parquet unpacks to more than 512 MiB"),
    ],
)
def test_one_value_for_all_rows(tmp_path: Path, values: dict[str, Any], message: str) -> None:
    path = spread(tmp_path, ROWS, **values)
    assert path.stat().st_size < 2 * 2**20
    done = subprocess.run(
        [sys.executable, "-c", READ, path, str(MEMORY)], capture_output=True, text=True, check=False
    )
    assert message in done.stderr.splitlines()[-1], done.stderr


def test_pages_that_unpack_to_more_than_is_taken(tmp_path: Path) -> None:
    path = write(tmp_path / "sites.parquet", frame(Name=["x" * 2**22]))
    with pytest.raises(BadInput, match="unpacks to more than 1 MiB"):
        open_source(path, limit=2**20)


def test_portions_hold_every_row_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = spread(tmp_path, 100, Name="x" * 1000)
    monkeypatch.setattr(geoparquet, "PORTION", 5000)
    parts = [len(batch.geometry) for batch in open_source(path).batches(["Name"])]
    assert sum(parts) == 100
    assert set(parts[:-1]) == {4}
    monkeypatch.setattr(geoparquet, "PORTION", 10)
    assert [len(batch.geometry) for batch in open_source(path).batches(["Name"])] == [1] * 100


@pytest.mark.parametrize("name", [["a", "b"], {"a": 1}, pyarrow.scalar(b"x" * 65, pyarrow.binary(65))])
def test_what_cannot_be_read_in_portions_is_no_attribute(tmp_path: Path, name: Any) -> None:
    path = write(tmp_path / "sites.parquet", frame())
    table = pyarrow.parquet.read_table(path)
    table = table.set_column(table.schema.get_field_index("Name"), "Name", pyarrow.array([name]))
    pyarrow.parquet.write_table(table, path)
    refused(path, "Name")
    assert "Name" not in open_source(path).fields
