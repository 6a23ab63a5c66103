"""Validate the attributes of sites; errors name the feature."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from assessment.bundle.schema import find_column
from switchyard.errors import BadInput

NUTRIENT = ("id", "Name", "Dwel_Cat", "Source", "Dwellings")
MAY_BE_NULL = {"Name"}
MOST_DWELLINGS = 1_000_000
MEANT = {
    "Dwellings": ("dwell", "units", "homes", "houses"),
    "Dwel_Cat": ("categ", "dwel_c"),
    "Name": ("name",),
}
"""Parts of the names that files use instead of ours."""


def found(fields: Sequence[str]) -> dict[str, str]:
    """Map our names to the file's, for all attributes of a nutrient assessment."""
    names = {column: find_column(column, fields) for column in NUTRIENT}
    missing = [column for column, name in names.items() if name is None]
    if missing:
        known = ", ".join(fields[:20]) or "none (a shapefile needs its .dbf)"
        raise BadInput(
            f"the attribute {', '.join(missing)} is missing{_guess(missing, fields)}; the file has {known}"
        )
    return {column: name for column, name in names.items() if name is not None}


def _guess(missing: Sequence[str], fields: Sequence[str]) -> str:
    """A field of the file that was perhaps meant."""
    said = [
        f"rename {field.strip()!r} to {column}"
        for column in missing
        for field in fields
        if any(word in field.casefold() for word in MEANT.get(column, ()))
    ]
    return f" (perhaps {', '.join(said[:3])})" if said else ""


def label(ids: Sequence[Any], k: int) -> str:
    """A feature's name in messages: its position in the file, and its id if it has one."""
    own = text(ids[k]) if k < len(ids) else None
    return f"feature {k + 1}" + (f" ({own[:60]})" if own else "")


def texts(columns: Mapping[str, Sequence[Any]], column: str, ids: Sequence[Any]) -> tuple[str | None, ...]:
    values = _cleaned(columns[column])
    if column not in MAY_BE_NULL and None in values:
        raise BadInput(f"{label(ids, values.index(None))}: {column} is null")
    return values


def _cleaned(values: Sequence[Any]) -> tuple[str | None, ...]:
    """`text` of each value; clean texts are checked and stripped as one, in a tenth of the time."""
    if set(map(type, values)) <= {str, type(None)}:
        together = "".join(filter(None, values))
        if together.isascii() and "\0" not in together:
            return tuple([value.strip() or None if value else None for value in values])
    return tuple(map(text, values))


def text(value: Any) -> str | None:
    """Any scalar as text: whole numbers without a fraction, empty values as None."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    characters = str(value).encode(errors="replace").decode()  # half of a surrogate pair is not a character
    cleaned = characters.replace("\0", "").strip()
    return cleaned or None


def choices(
    values: Sequence[Any], column: str, allowed: tuple[str, ...], default: str | None
) -> tuple[str, ...]:
    """Check that each value is one of the allowed words, ignoring case; used for ponds."""
    clean = []
    for k, value in enumerate(values):
        found = text({True: "T", False: "F"}[value] if isinstance(value, bool) else value)
        found = found.upper() if found else default
        if found not in allowed:
            raise BadInput(f"pond {k + 1}: {column} is {value!r}; it must be one of {', '.join(allowed)}")
        clean.append(found)
    return tuple(clean)


def dwellings(values: Sequence[Any], ids: Sequence[Any]) -> tuple[int, ...]:
    if set(map(type, values)) == {int} and min(values) >= 0 and max(values) <= MOST_DWELLINGS:
        return tuple(values)
    return tuple(_count(value, label(ids, k)) for k, value in enumerate(values))


def _count(value: Any, name: str) -> int:
    """A whole number of homes; text and floats such as 12.0 are accepted."""
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
