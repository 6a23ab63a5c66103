"""The report in a real browser: legible at every width and on paper, by keyboard and by screen reader."""

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.acceptance.assessment.conftest import start
from tests.parts.browser import Chromium
from tests.parts.need import obtain

A4 = 718  # CSS pixels between the margins of 10 mm
PICTURES = Path(__file__).parents[3] / "results" / "pages"
LINKS = """() => [...document.querySelectorAll('a[href^="#"]')]
  .map(a => a.getAttribute('href').slice(1)).filter(id => !document.getElementById(id))"""
CUT_OFF = """() => [...document.querySelectorAll('td.total')].filter(cell => {
  const box = cell.getBoundingClientRect();
  return box.right > document.documentElement.clientWidth || box.width === 0;
}).length"""
BREAKS = "['figure', '.map'].map(name => getComputedStyle(document.querySelector(name)).breakInside)"
WIDE = "document.documentElement.scrollWidth"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Chromium]:
    with closing(obtain("Chromium", Chromium)) as browser:
        yield browser


@pytest.fixture(scope="module")
def reports(region: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Of both assessments of the sample region."""
    folder = tmp_path_factory.mktemp("reports")
    words: dict[str, list[object]] = {
        "nutrient": [region / "sites.geojson"],
        "gcn": [region / "newt_sites.geojson", "-a", "gcn", "--ponds", region / "ponds.geojson"],
    }
    for name, said in words.items():
        done = start("run", *said, "-b", region / "bundle", "-o", folder / name)
        assert done.returncode == 0, done.stderr
    return {name: folder / name / "report.html" for name in words}


@pytest.mark.parametrize("width", [1200, 800, 400])
@pytest.mark.parametrize("name", ["nutrient", "gcn"])
def test_a_report_at_every_width(chromium: Chromium, reports: dict[str, Path], name: str, width: int) -> None:
    with chromium.sight("", "light", width) as sight:
        sight.page.goto(reports[name].as_uri())
        PICTURES.mkdir(parents=True, exist_ok=True)
        sight.page.screenshot(path=PICTURES / f"report-{name}-{width}.png", full_page=True)
        assert sight.page.evaluate(WIDE) <= width, "it scrolls sideways"
        assert sight.page.evaluate(CUT_OFF) == 0, "a total is cut off"
        assert sight.page.evaluate(LINKS) == [], "links that lead nowhere"
        assert sight.violations() == []
        assert sight.problems == []


def test_a_row_leads_to_its_shape_and_back(chromium: Chromium, reports: dict[str, Path]) -> None:
    with chromium.sight("", "light", 1200) as sight:
        page = sight.page
        page.goto(reports["nutrient"].as_uri())
        for table in ("Each site in scope", "Not assessed"):
            row = page.locator("table", has_text=table).locator("tbody[id^=site-]").first
            row.locator("th a").focus()
            page.keyboard.press("Enter")
            number = str(row.get_attribute("id")).removeprefix("site-")
            assert page.url.endswith(f"#map-{number}")
            page.locator(f"#map-{number}").focus()
            page.keyboard.press("Enter")
            assert page.url.endswith(f"#site-{number}")


def test_a_report_on_paper(chromium: Chromium, reports: dict[str, Path]) -> None:
    with chromium.sight("", "light", A4) as sight:
        page = sight.page
        page.goto(reports["nutrient"].as_uri())
        page.emulate_media(media="print")
        page.screenshot(path=PICTURES / "report-print.png", full_page=True)
        assert page.evaluate(WIDE) <= A4, "wider than the paper"
        assert page.evaluate(CUT_OFF) == 0
        assert page.evaluate(BREAKS) == ["auto", "avoid"], "two maps need two pages"
        assert page.locator("tfoot").count() == 0, "a foot is printed on every page"
        assert (
            page.evaluate("getComputedStyle(document.querySelector('thead')).display") == "table-header-group"
        )
        paper = page.pdf(prefer_css_page_size=True)
    sizes = {tuple(map(float, size.split())) for size in re.findall(rb"/MediaBox ?\[0 0 ([\d. ]+)\]", paper)}
    assert sizes, "no page"
    assert all(size == pytest.approx((595.3, 841.9), abs=1) for size in sizes)
