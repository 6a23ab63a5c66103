"""Sites and ponds of an upload, read by a process with limits."""

from pathlib import Path
from typing import TYPE_CHECKING

from assessment.intake.answer import Answer
from assessment.intake.reader import Reader, shared_reader
from assessment.sites import Sites

if TYPE_CHECKING:
    from assessment.gcn.ponds import Ponds


def nutrient_sites(path: Path, layer: str | None = None, reader: Reader | None = None) -> Sites:
    """The sites of a nutrient assessment."""
    return sites_of((reader or shared_reader()).read(path, "nutrient", layer))


def gcn_sites(path: Path, layer: str | None = None, reader: Reader | None = None) -> Sites:
    """The sites of a newt assessment, which needs only the geometry."""
    return sites_of((reader or shared_reader()).read(path, "gcn", layer))


def survey(path: Path, layer: str | None = None, reader: Reader | None = None) -> "Ponds":
    """The ponds of a survey."""
    return ponds_of((reader or shared_reader()).read(path, "ponds", layer))


def sites_of(found: Answer) -> Sites:
    """Sites from an answer; columns that a newt assessment does not need are empty."""
    count = len(found.geometry)
    columns = {name: tuple(values) for name, values in found.columns.items()}
    return Sites(
        number=tuple(range(1, count + 1)),
        id=columns["id"],
        name=columns["Name"],
        category=columns.get("Dwel_Cat", (None,) * count),
        source=columns.get("Source", (None,) * count),
        dwellings=columns.get("Dwellings", (0,) * count),
        geometry=found.geometry,
        notes=found.notes,
        remarks=tuple(found.remarks),
    )


def ponds_of(found: Answer) -> "Ponds":
    from assessment.gcn.ponds import Ponds  # noqa: PLC0415 - nutrient assessments need none of it

    return Ponds(found.geometry, tuple(found.columns["PANS"]), tuple(found.columns["TmpImp"]))
