"""Decodes WKB of many features at once; an error names the first invalid one."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import shapely

from assessment.arrays import Geometries
from switchyard.errors import BadInput

_BROKEN = (shapely.errors.ShapelyError, TypeError)


def read(contents: Sequence[Any], first: int) -> Geometries:
    """The geometries; `first` is the number of the first feature in its file."""
    try:
        return np.asarray(shapely.from_wkb(contents), dtype=object)
    except _BROKEN as error:
        number = first + next(k for k, content in enumerate(contents) if not _sound(content))
        raise BadInput(f"feature {number}: the geometry cannot be read: {error}") from error


def _sound(content: Any) -> bool:
    try:
        shapely.from_wkb(content)
    except _BROKEN:
        return False
    return True
