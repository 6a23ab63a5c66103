"""Rows grouped for planning officers: subtotals, shares of catchments, kinds of warnings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assessment.results import Row
from assessment.row_warnings import heading_of

OUTSIDE = "In no catchment"


@dataclass
class Subtotal:
    name: str
    sites: int = 0
    dwellings: float = 0.0
    hectares: float = 0.0
    nitrogen: float = 0.0
    phosphorus: float = 0.0

    def add(self, row: Row, share: float) -> None:
        self.sites += 1
        self.dwellings += row["Dwellings"] * share
        self.hectares += row["Dev_Area_Ha"] * share
        self.nitrogen += row["N_Total"] * share
        self.phosphorus += row["P_Total"] * share


@dataclass
class Warnings:
    """Warnings of one kind: each text once, with the sites that have it."""

    heading: str
    texts: dict[str, list[int]] = field(default_factory=dict)

    @property
    def sites(self) -> int:
        return len({number for numbers in self.texts.values() for number in numbers})


def subtotals(rows: Sequence[Row]) -> Mapping[str, list[Subtotal]]:
    """By catchment, works and authority, the largest nitrogen first. Each adds up to the total."""
    return {
        "Nutrient catchment": _by(rows, shares),
        "Treatment works": _by(rows, lambda row: {_works(row): 1.0}),
        "Planning authority": _by(rows, lambda row: {str(row["Majority_LPA"]): 1.0}),
    }


def shares(row: Row) -> dict[str, float]:
    """The weight of a site in each catchment: its share of the area."""
    areas: Mapping[str, float] = row["catchments"]
    whole = sum(areas.values())
    return {name: area / whole for name, area in areas.items()} if whole > 0 else {OUTSIDE: 1.0}


def _works(row: Row) -> str:
    return f"{row['WwTW_name'] or 'Not in the lookup'} ({row['Majority_WwTw_ID']})"


def _by(rows: Sequence[Row], parts: Callable[[Row], Mapping[str, float]]) -> list[Subtotal]:
    found: dict[str, Subtotal] = {}
    for row in rows:
        for name, share in parts(row).items():
            found.setdefault(name, Subtotal(name)).add(row, share)
    return sorted(found.values(), key=lambda each: (-each.nitrogen, each.name))


def warned(rows: Sequence[Row]) -> list[Warnings]:
    """The warnings of all rows by subject, those of most sites first."""
    found: dict[str, Warnings] = {}
    for row in rows:
        for text in row["warnings"]:
            heading = heading_of(text) or text
            found.setdefault(heading, Warnings(heading)).texts.setdefault(text, []).append(row["RLB_ID"])
    return sorted(found.values(), key=lambda group: -group.sites)


def split(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The sites in several catchments, with the share of each catchment."""
    return [
        {"row": row, "name": name, "share": share, "hectares": row["catchments"][name]}
        for row in rows
        if len(row["catchments"]) > 1
        for name, share in shares(row).items()
    ]
