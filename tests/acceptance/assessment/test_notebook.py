"""The notebook of the documentation, executed in a Jupyter kernel; its figures are the command's."""

import json
import os
import sys
from pathlib import Path

import nbclient
import nbformat
import pytest

from tests.acceptance.assessment.conftest import Run

NOTEBOOK = Path(__file__).parents[3] / "docs" / "notebook.ipynb"
LAST = "print('figures', found['N_Total'].tolist(), found['P_Total'].tolist(), newts['Shape_Area'].tolist())"


def test_the_notebook_of_the_documentation(
    assessment: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    book = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    nbformat.validate(book)
    last = nbformat.v4.new_code_cell(LAST)  # type: ignore[no-untyped-call]
    book.cells.append(last)
    nbclient.NotebookClient(book, timeout=240, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [
        out["data"]["text/html"]
        for cell in book.cells
        for out in cell.get("outputs", [])
        if "data" in out and "text/html" in out["data"]
    ]
    assert sum("<svg" in html for html in shown) == 2, "nutrients and newts"
    assert any("leaflet" in html for html in shown), "explore()"
    words = {
        "nutrient": ["sites.geojson"],
        "gcn": ["newt_sites.geojson", "-a", "gcn", "--ponds", "region/ponds.geojson"],
    }
    for name, (file, *rest) in words.items():
        done = assessment("run", f"region/{file}", "-b", "region/bundle", "-o", name, *rest, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    rows = {
        name: [
            each["properties"]
            for each in json.loads((tmp_path / name / "output.json").read_text())["features"]
        ]
        for name in words
    }
    figures = [
        [row["n_total"] for row in rows["nutrient"]],
        [row["p_total"] for row in rows["nutrient"]],
        [row["shape_area"] for row in rows["gcn"]],
    ]
    said = "".join(out["text"] for out in book.cells[-1].outputs)
    assert said.strip() == f"figures {' '.join(map(str, figures))}"


def values(folder: Path, name: str) -> list[float]:
    features = json.loads((folder / "output.json").read_text())["features"]
    return [feature["properties"][name] for feature in features]
