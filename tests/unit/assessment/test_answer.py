"""What crosses from the process that reads an upload arrives as it was, and is checked."""

import gc
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from assessment.intake import answer, attributes
from assessment.intake.accept import Accepted
from assessment.intake.geometry import Vetted
from tests.unit.assessment.world import box

RING = shapely.difference(box(0, 0, 9, 9), box(3, 3, 5, 5))
SHAPES = [box(0, 0, 1, 1), RING, shapely.multipolygons([box(0, 0, 1, 1), shapely.union(RING, RING)])]


def accepted(shapes: list[Any], **columns: tuple[Any, ...]) -> Accepted:
    return Accepted(columns, Vetted(np.array(shapes, dtype=object), {1: "was open"}, None), ("a remark",))


@given(values=st.lists(st.one_of(st.none(), st.text(), st.floats(), st.integers()), min_size=1, max_size=5))
def test_texts_arrive_as_they_were_cleaned(
    tmp_path_factory: pytest.TempPathFactory, values: list[Any]
) -> None:
    path = tmp_path_factory.getbasetemp() / "answer"
    texts = tuple(map(attributes.text, values))
    shapes = [box(k, 0, k + 1, 1) for k in range(len(values))]
    answer.write(path, accepted(shapes, Name=texts, Dwellings=tuple(range(len(values)))))
    found = answer.read(path)
    assert tuple(found.columns["Name"]) == texts
    assert found.columns["Dwellings"] == list(range(len(values)))


@pytest.mark.parametrize("shapes", [SHAPES[:1] * 3, SHAPES[:2] * 2, SHAPES, SHAPES[2:]])
def test_boundaries_arrive_as_they_were(tmp_path: Path, shapes: list[Any]) -> None:
    answer.write(tmp_path / "answer", accepted(shapes, id=("a",) * len(shapes)))
    found = answer.read(tmp_path / "answer")
    assert shapely.to_wkb(found.geometry).tolist() == shapely.to_wkb(shapes).tolist()
    assert (dict(found.notes), list(found.remarks)) == ({2: ("was open",)}, ["a remark"])
    assert gc.isenabled()


@pytest.mark.parametrize("texts", ["a\0b", "a", "a\0b\0c\0d", ""])
def test_a_column_of_another_length_is_refused(tmp_path: Path, texts: str) -> None:
    path = tmp_path / "answer"
    answer.write(path, accepted(SHAPES, id=("a", "b", "c")))
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    header["columns"] = [["id", "texts", len(texts)]]
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    path.write_bytes(len(head).to_bytes(8, "little") + head + content[8 + length : -5] + texts.encode())
    with pytest.raises(ValueError, match="columns of an answer do not fit"):
        answer.read(path)
    assert gc.isenabled()
