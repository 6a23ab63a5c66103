"""Turn features as read into validated sites or ponds, or into one sentence that explains the problem."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import shapely

from assessment.bundle.schema import find_column
from assessment.formats.read import Features
from assessment.intake import attributes, geometry
from assessment.intake.geometry import Vetted
from switchyard.errors import BadInput

MOST_VERTICES = 20_000_000
MOST_VERTICES_OF_BROKEN = 20_000
"""Vertices of one invalid boundary: the time of a repair grows with their square."""

Columns = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Accepted:
    """Columns under our names, as plain values, and the boundaries."""

    columns: Columns
    vetted: Vetted
    remarks: tuple[str, ...] = ()


def nutrient(read: Features) -> Accepted:
    """The sites of a nutrient assessment."""
    names = attributes.found(list(read.columns))
    columns = {column: read.listed(name) for column, name in names.items()}
    ids = columns["id"]
    clean: dict[str, Sequence[Any]] = {
        column: attributes.texts(columns, column, ids) for column in ("id", "Name", "Dwel_Cat", "Source")
    }
    clean["Dwellings"] = attributes.dwellings(columns["Dwellings"], ids)
    return _accepted(read, clean, lambda k: attributes.label(ids, k))


def gcn(read: Features) -> Accepted:
    """The sites of a newt assessment, which needs only the geometry."""
    columns = {}
    for column in ("id", "Name"):
        name = find_column(column, list(read.columns))
        columns[column] = (
            [attributes.text(value) for value in read.listed(name)] if name else [None] * len(read.geometry)
        )
    return _accepted(read, columns, lambda k: attributes.label(columns["id"], k))


def ponds(read: Features) -> Accepted:
    """A survey of ponds: PANS is required; TmpImp is F if the file has no such column."""
    state, temporary = (find_column(column, list(read.columns)) for column in ("PANS", "TmpImp"))
    if state is None:
        raise BadInput("the survey of ponds has no attribute PANS")
    columns = {
        "PANS": attributes.choices(read.listed(state), "PANS", ("P", "A", "NS"), None),
        "TmpImp": attributes.choices(
            read.listed(temporary) if temporary else [None] * len(read.geometry), "TmpImp", ("T", "F"), "F"
        ),
    }
    return _accepted(read, columns, lambda k: f"pond {k + 1}")


KINDS: Mapping[str, Callable[[Features], Accepted]] = {"nutrient": nutrient, "gcn": gcn, "ponds": ponds}


def _accepted(read: Features, columns: Columns, label: geometry.Label) -> Accepted:
    counts = shapely.get_num_coordinates(read.geometry)
    if counts.sum() > MOST_VERTICES:
        raise BadInput(f"more than {MOST_VERTICES:,} vertices in one file")
    found = geometry.vetted(
        read.geometry, read.crs, label, assumed=read.assumed_crs, repairable=MOST_VERTICES_OF_BROKEN
    )
    return Accepted(columns, found, read.remarks)
