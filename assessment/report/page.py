"""The report of an assessment: one self-contained HTML file."""

from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from assessment.bundle.bundle import Bundle
from assessment.editions import Edition
from assessment.report import groups
from assessment.report.map import draw
from assessment.results import Results
from assessment.sites import Sites


def page(results: Results, sites: Sites, bundle: Bundle, edition: Edition) -> str:
    """The whole document. Names are untrusted: the template escapes everything except the map."""
    return _template(f"{results.assessment}.html").render(
        results=results,
        rows=results.main.rows,
        summary=results.summary,
        provenance=results.provenance,
        layers=bundle.manifest.layers,
        findings=[str(finding) for finding in bundle.manifest.findings],
        groups=groups,
        without=sorted(set(sites.number) - {row["RLB_ID"] for row in results.main.rows}),
        left_out=results.tables["out_of_scope"].rows if "out_of_scope" in results.tables else (),
        edition=edition,
        map=Markup(draw(results, sites, bundle)),  # noqa: S704 - the map escapes its own texts
    )


@lru_cache(maxsize=4)
def _template(name: str) -> Template:
    folder = Path(__file__).with_name("templates")
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": number, "moment": moment}
    return environment.get_template(name)


def number(value: Any, decimals: int = 2) -> str:
    """A number formatted for people; a dash if there is none."""
    return "-" if value is None else f"{value:,.{decimals}f}"


def moment(stamp: str) -> str:
    """A time in UTC, formatted for people."""
    return f"{datetime.fromisoformat(stamp).astimezone(UTC):%-d %B %Y, %H:%M} UTC"
