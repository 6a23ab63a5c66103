"""What `make bench` writes: goals that are met or missed, one shape for all benchmarks, a picture of it."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from benchmarks import __main__ as bench
from benchmarks import picture, report
from benchmarks.drain.__main__ import figures as drained
from benchmarks.report import Figure, publish


@pytest.mark.parametrize(
    ("figure", "met"),
    [
        (Figure("a", 1.0, "x"), None),
        (Figure("a", 1.0, "x", at_least=1.0), True),
        (Figure("a", 0.99, "x", at_least=1.0), False),
        (Figure("a", 3.0, "x", at_most=2.0), False),
    ],
)
def test_a_goal_is_met_or_missed(figure: Figure, met: bool | None) -> None:
    assert figure.met is met
    assert figure.goal.endswith({None: "", True: "met", False: "MISSED"}[met])


def test_what_is_published_comes_back_and_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    rates = {"switchyard x2": 300, "floor x2": 330, "pg-boss x2": 200, "river x2": 100, "river x1": 50}
    costs = dict.fromkeys(rates, 1.0)
    publish("P1 drain, processes: 2", drained(2, rates, costs))
    published = json.loads((tmp_path / "p1-drain-processes-2.json").read_text())
    assert {each["name"]: each["met"] for each in published["figures"] if each["met"] is not None} == {
        "beside the best peer": True,
        "beside the floor": True,
    }
    ran = [
        {"module": "drain", "commit": "abc", "date": "2026-01-31T00:00:00+00:00", "published": [published]}
    ]
    assert bench.figures(ran) == {"P1 drain, processes: 2": drained(2, rates, costs)}
    monkeypatch.setattr(bench, "FILE", tmp_path / "bench.json")
    assert bench.keep(ran)["goals"] == {"met": 2, "missed": 0}
    assert bench.earlier(["latency"]) == ran
    assert bench.earlier(["drain"]) == []
    drawn = ET.fromstring((tmp_path / "bench.svg").read_text())
    assert "abc" in (drawn.findall("{http://www.w3.org/2000/svg}text")[-1].text or "")
    bars = drawn.findall("{http://www.w3.org/2000/svg}rect")
    assert len(bars) == 4  # the ratios and the other number of processes are not bars
    assert [bar.get("fill") == picture.OURS for bar in bars] == [True, False, False, False]


@pytest.mark.parametrize(
    ("value", "text"),
    [(122_997.4, "122,997"), (7.451, "7.45"), (0.113, "0.11"), (0.00121, "0.0012"), (0.0, "0")],
)
def test_a_bar_shows_how_much(value: float, text: str) -> None:
    assert picture.shown(value) == text


def test_a_part_of_it_can_be_run() -> None:
    modules = [module for module, _ in bench.programme(False, [], None)]
    assert {"drain", "latency", "completion"} <= set(modules)
    assert len(bench.programme(True, [], None)) < len(modules)
    assert bench.programme(False, ["drain"], "--rounds 2") == [("drain", "--rounds 2")]


def test_every_benchmark_that_is_run_exists() -> None:
    for module, _, _ in bench.BENCHMARKS:
        path = bench.ROOT / "benchmarks" / Path(*module.split("."))
        assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), module
