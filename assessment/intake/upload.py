"""Sites and ponds of an upload, read by a process with limits."""

from pathlib import Path
from typing import TYPE_CHECKING

from assessment.intake.reader import Reader, shared_reader
from assessment.sites import Sites

if TYPE_CHECKING:
    from assessment.gcn.ponds import Ponds


def nutrient_sites(path: Path, layer: str | None = None, reader: Reader | None = None) -> Sites:
    """The sites of a nutrient assessment."""
    found = (reader or shared_reader()).read(path, "nutrient", layer)
    columns = {name: tuple(values) for name, values in found.columns.items()}
    return Sites(
        number=tuple(range(1, len(found.geometry) + 1)),
        id=columns["id"],
        name=columns["Name"],
        category=columns["Dwel_Cat"],
        source=columns["Source"],
        dwellings=columns["Dwellings"],
        geometry=found.geometry,
        notes=found.notes,
        remarks=tuple(found.remarks),
    )


def gcn_sites(path: Path, layer: str | None = None, reader: Reader | None = None) -> Sites:
    """The sites of a newt assessment: the geometry alone is needed."""
    found = (reader or shared_reader()).read(path, "gcn", layer)
    count = len(found.geometry)
    return Sites(
        number=tuple(range(1, count + 1)),
        id=tuple(found.columns["id"]),
        name=tuple(found.columns["Name"]),
        category=(None,) * count,
        source=(None,) * count,
        dwellings=(0,) * count,
        geometry=found.geometry,
        notes=found.notes,
        remarks=tuple(found.remarks),
    )


def survey(path: Path, layer: str | None = None, reader: Reader | None = None) -> "Ponds":
    """The ponds of a survey."""
    from assessment.gcn.ponds import Ponds  # noqa: PLC0415 - nutrient assessments need none of it

    found = (reader or shared_reader()).read(path, "ponds", layer)
    return Ponds(found.geometry, tuple(found.columns["PANS"]), tuple(found.columns["TmpImp"]))
