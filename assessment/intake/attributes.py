"""Validates the attributes of sites: errors name the feature."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from assessment.bundle.schema import find_column
from switchyard.errors import BadInput

NUTRIENT = ("id", "Name", "Dwel_Cat", "Source", "Dwellings")
MAY_BE_NULL = {"Name"}
MOST_DWELLINGS = 1_000_000


def found(fields: Sequence[str]) -> dict[str, str]:
    """Our names -> the file's, for all attributes of a nutrient assessment."""
    names = {column: find_column(column, fields) for column in NUTRIENT}
    missing = [column for column, name in names.items() if name is None]
    if missing:
        known = ", ".join(fields[:20]) or "none"
        raise BadInput(f"the attribute {', '.join(missing)} is missing; the file has {known}")
    return {column: name for column, name in names.items() if name is not None}


def label(ids: Sequence[Any], k: int) -> str:
    """How messages name a feature: its place in the file, and its id where it has one."""
    own = text(ids[k]) if k < len(ids) else None
    return f"feature {k + 1}" + (f" ({own[:60]})" if own else "")


def texts(columns: Mapping[str, Sequence[Any]], column: str, ids: Sequence[Any]) -> tuple[str | None, ...]:
    values = tuple(text(value) for value in columns[column])
    if column not in MAY_BE_NULL and None in values:
        raise BadInput(f"{label(ids, values.index(None))}: {column} is null")
    return values


def text(value: Any) -> str | None:
    """Any scalar as text; whole numbers without a fraction, nothing as None."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    characters = str(value).encode(errors="replace").decode()  # half of a surrogate pair is not a character
    cleaned = characters.replace("\0", "").strip()
    return cleaned or None


def dwellings(values: Sequence[Any], ids: Sequence[Any]) -> tuple[int, ...]:
    return tuple(_count(value, label(ids, k)) for k, value in enumerate(values))


def _count(value: Any, name: str) -> int:
    """A whole number of homes, also where a file has it as text or as 12.0."""
    if value is None or (isinstance(value, str) and not value.strip()):
        raise BadInput(f"{name}: Dwellings is null")
    try:
        number = float(value) if not isinstance(value, bool) else math.nan
    except (TypeError, ValueError):
        number = math.nan
    except OverflowError:
        number = math.inf if value > 0 else -math.inf
    if math.isnan(number):
        raise BadInput(f"{name}: Dwellings is not a number: {str(value)[:40]!r}")
    if number < 0:
        raise BadInput(f"{name}: Dwellings is negative: {value}")
    if number > MOST_DWELLINGS:
        raise BadInput(f"{name}: Dwellings is more than {MOST_DWELLINGS:,}: {str(value)[:40]}")
    if not number.is_integer():
        raise BadInput(f"{name}: Dwellings is not a whole number: {value}")
    return int(number)
