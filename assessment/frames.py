"""Assess GeoDataFrames, for notebooks; the figures are the same as the command's."""

from html import escape
from pathlib import Path
from typing import Any

import geopandas
import pandas

from assessment.bundle.bundle import Bundle, open_bundle
from assessment.compute import compute
from assessment.formats.crs import GRID
from assessment.formats.read import Features
from assessment.intake import accept
from assessment.intake.answer import Answer
from assessment.intake.upload import ponds_of, sites_of
from assessment.progress import Progress, silent
from assessment.request import job_spec
from assessment.results import Results, Table
from assessment.sites import Sites

STYLE = Path(__file__).with_name("report") / "templates" / "map.css"


class Assessed(geopandas.GeoDataFrame):  # type: ignore[misc]  # geopandas has no types
    """The main table of an assessment, in EPSG:27700.

    A selection of it has neither results nor a map, because those are about all sites.
    """

    results: Results | None = None
    """The complete results: summary, provenance, general warnings."""
    drawn_from: tuple[Sites, Path] | None = None
    """The sites and the folder of the bundle, for the map."""

    def table(self, name: str) -> Any:
        """Another table of the results, such as out_of_scope or ponds; empty if there is none."""
        tables = self.results.tables if self.results else {}
        return _frame(tables[name]) if name in tables else pandas.DataFrame()

    def _repr_html_(self) -> str:
        """The map, the totals, and the first and last rows."""
        rows = str(super()._repr_html_() or "")
        if self.results is None or self.drawn_from is None:
            return rows
        from assessment.report.map import draw  # noqa: PLC0415 - only needed for display

        sites, folder = self.drawn_from
        style = f".assessment {{ --ink: #1f2a30; --line: #d5dbde; }} {STYLE.read_text()}"
        said = [*_totals(self.results), *self.results.warnings]
        notes = "".join(f"<p>{escape(each)}</p>" for each in said)
        drawing = draw(self.results, sites, open_bundle(folder))
        return f'<div class="assessment"><style>{style}</style>{drawing}{notes}{rows}</div>'


def assess(
    sites: Any,
    bundle: Bundle | str | Path,
    *,
    assessment: str = "nutrient",
    mode: str | None = None,
    edition: str | None = None,
    ponds: Any = None,
    progress: Progress = silent,
) -> Assessed:
    """Assess the rows of a GeoDataFrame, as `assessment run` assesses those of a file.

    `bundle`: a reference bundle, or its folder. `assessment`: nutrient or gcn (newts, where `ponds` may be a
    GeoDataFrame with a survey). Rows keep the index of their site. BadInput names the row that is invalid.
    """
    job = job_spec(assessment, mode, edition)
    opened = bundle if isinstance(bundle, Bundle) else open_bundle(bundle)
    batch = sites_of(_answer(sites, job.assessment))
    survey = None if ponds is None else ponds_of(_answer(ponds, "ponds"))
    results = compute(job, batch, opened, ponds=survey, progress=progress)
    made = Assessed(_frame(results.main))
    if job.assessment == "nutrient":
        made.index = sites.index[made["RLB_ID"].to_numpy() - 1]
    made.results, made.drawn_from = results, (batch, opened.folder)
    return made


def _answer(frame: Any, kind: str) -> Answer:
    """Validate the rows of a frame like those of an upload."""
    columns = {
        str(name): [None if pandas.isna(value) else value for value in frame[name].tolist()]
        for name in frame.columns
        if name != frame.geometry.name
    }
    crs = None if frame.crs is None else frame.crs.to_string()
    read = Features(crs, assumed_crs=False, geometry=frame.geometry.to_numpy(copy=True), columns=columns)
    accepted = accept.KINDS[kind](read)
    return Answer(accepted.columns, accepted.vetted.geometry, accepted.vetted.notes(), accepted.remarks)


def _frame(table: Table) -> Any:
    types = {"integer": "Int64", "real": "float64", "text": "object", "list": "object"}
    columns = {
        name: pandas.array(table.values(name), dtype=types[kind]) for name, kind in table.columns.items()
    }
    made = pandas.DataFrame(columns)
    whole = {
        name: "int64"
        for name, kind in table.columns.items()
        if kind == "integer" and made[name].notna().all()
    }
    made = made.astype(whole)
    return made if table.geometry is None else geopandas.GeoDataFrame(made, geometry=table.geometry, crs=GRID)


def _totals(results: Results) -> list[str]:
    if results.assessment == "gcn":
        return [f"{results.summary['sites']} sites"]
    said = results.summary
    return [
        f"{said['sites']} of {said['sites_submitted']} sites in scope: "
        f"{said['n_total']:,.2f} kg nitrogen and {said['p_total']:,.2f} kg phosphorus a year"
    ]
