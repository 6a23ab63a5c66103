"""Results as a table: the most informative properties of the features."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MOST_ROWS = 200
MOST_COLUMNS = 6
LABELS = ("name", "title", "id")


@dataclass(frozen=True, slots=True)
class Table:
    """Columns with their rows; `numeric` lists the columns with numbers."""

    columns: list[str]
    numeric: list[bool]
    rows: list[list[Any]]
    left_out: int


def result_table(features: Sequence[Mapping[str, Any]], summary: Mapping[str, Any]) -> Table | None:
    """A label, properties that differ between features, and those that the summary adds up; None if empty."""
    properties = [feature.get("properties") or {} for feature in features]
    columns = _columns(properties, summary)
    if not columns:
        return None
    shown = properties[:MOST_ROWS]
    return Table(
        columns,
        [all(_is_number(row.get(name)) for row in shown if row.get(name) is not None) for name in columns],
        [[row.get(name) if _fits(row.get(name)) else None for name in columns] for row in shown],
        len(properties) - len(shown),
    )


def tinted_by(features: Sequence[Mapping[str, Any]], summary: Mapping[str, Any]) -> str | None:
    """The property to tint a map by: the first number that the summary adds up."""
    names = [
        name for name in summary if any(_is_number((f.get("properties") or {}).get(name)) for f in features)
    ]
    return names[0] if names else None


def _columns(properties: list[Mapping[str, Any]], summary: Mapping[str, Any]) -> list[str]:
    names = list(dict.fromkeys(name for row in properties for name, value in row.items() if _fits(value)))
    label = next((name for name in LABELS if name in names), None)
    totals = [name for name in names if name in summary][: MOST_COLUMNS - 1]
    others = [
        name
        for name in names
        if name not in (label, *totals)
        and not name.endswith("id")
        and (len(properties) == 1 or len({str(row.get(name)) for row in properties}) > 1)
    ]
    room = MOST_COLUMNS - len(totals) - (label is not None)
    return [*([label] if label else []), *others[:room], *totals]


def _fits(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
