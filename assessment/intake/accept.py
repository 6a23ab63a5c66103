"""From an untrusted file to validated sites, or to one sentence about what is wrong with it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import shapely

from assessment.arrays import Geometries
from assessment.bundle.schema import find_column
from assessment.formats.open import open_source
from assessment.formats.source import Source
from assessment.intake import attributes, geometry
from assessment.sites import Sites
from switchyard.errors import BadInput

LIMIT = 512 * 2**20
"""Bytes of a file, packed or not."""
MOST_FEATURES = 100_000
MOST_VERTICES = 20_000_000


def nutrient_sites(path: Path, limit: int = LIMIT) -> Sites:
    """The sites of a nutrient assessment."""
    source = open_source(path, limit=limit)
    names = attributes.found(source.fields)
    shapes, read = everything(source, list(dict.fromkeys(names.values())))
    columns = {column: read[name] for column, name in names.items()}
    ids = columns["id"]
    return Sites(
        number=tuple(range(1, len(shapes) + 1)),
        id=attributes.texts(columns, "id", ids),
        name=attributes.texts(columns, "Name", ids),
        category=attributes.texts(columns, "Dwel_Cat", ids),
        source=attributes.texts(columns, "Source", ids),
        dwellings=attributes.dwellings(columns["Dwellings"], ids),
        geometry=geometry.vetted(shapes, source.crs, lambda k: attributes.label(ids, k)),
    )


def gcn_sites(path: Path, limit: int = LIMIT) -> Sites:
    """The sites of a newt assessment: the geometry alone is needed."""
    source = open_source(path, limit=limit)
    wanted = {column: find_column(column, source.fields) for column in ("id", "Name")}
    shapes, read = everything(source, [name for name in wanted.values() if name is not None])
    none: list[Any] = [None] * len(shapes)
    ids, names = (read[name] if name else none for name in wanted.values())
    empty = (None,) * len(shapes)
    return Sites(
        number=tuple(range(1, len(shapes) + 1)),
        id=tuple(attributes.text(value) for value in ids),
        name=tuple(attributes.text(value) for value in names),
        category=empty,
        source=empty,
        dwellings=(0,) * len(shapes),
        geometry=geometry.vetted(shapes, source.crs, lambda k: attributes.label(ids, k)),
    )


def everything(source: Source, columns: Sequence[str]) -> tuple[Geometries, dict[str, list[Any]]]:
    """All features of a source, with limits on how many there may be."""
    shapes: list[Geometries] = []
    values: dict[str, list[Any]] = {column: [] for column in columns}
    features = vertices = 0
    for batch in source.batches(columns):
        features += len(batch.geometry)
        vertices += int(shapely.get_num_coordinates(batch.geometry).sum())
        if features > MOST_FEATURES or vertices > MOST_VERTICES:
            raise BadInput(f"more than {MOST_FEATURES:,} features or {MOST_VERTICES:,} vertices in one file")
        shapes.append(batch.geometry)
        for column in columns:
            values[column].extend(batch.columns[column])
    if not features:
        raise BadInput("the file has no features")
    return np.concatenate(shapes), values
