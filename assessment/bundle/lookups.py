"""The two lookup tables of a bundle: works and their permits, catchments and their rates."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

CONCENTRATIONS = (
    "Nitrogen_2025_2030",
    "Nitrogen_2030_onwards",
    "Phosphorus_2025_2030",
    "Phosphorus_2030_onwards",
)


@dataclass(frozen=True)
class Works:
    """A row of WwTw_lookup; concentrations in mg/l, None if the table has no number."""

    code: str
    name: str | None
    subcatchment: str | None
    concentrations: tuple[float | None, float | None, float | None, float | None]


@dataclass(frozen=True)
class RateRow:
    name: str
    occupancy: float
    litres: float


@dataclass(frozen=True)
class Lookups:
    works: Mapping[str, Works]
    rates: Mapping[str, RateRow]


def code_of(value: Any) -> str | None:
    """A works' code as text: 938, 938.0, ' 938' and '\\t938' are the same code."""
    text = "" if value is None else str(value).strip()
    if text.endswith(".0") and text[:-2].isdigit():
        text = text[:-2]
    return text or None


def number_of(value: Any) -> float | None:
    """A concentration; None if it is not a finite number."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if abs(number) < float("inf") else None


def text_of(value: Any) -> str | None:
    text = None if value is None else str(value)
    return text if text and text.strip() else None


def lookups(works: Iterable[Mapping[str, Any]], rates: Iterable[Mapping[str, Any]]) -> Lookups:
    """Index the rows by code and by catchment; of repeated codes and names the first is used."""
    by_code: dict[str, Works] = {}
    for row in works:
        code = code_of(row["WwTW_code"])
        if code is not None:
            by_code.setdefault(code, _works(code, row))
    by_name: dict[str, RateRow] = {}
    for row in rates:
        name, occupancy, litres = (
            text_of(row["NN_Catchment"]),
            number_of(row["Occ_Rate"]),
            number_of(row["Water_Usage_L_Day"]),
        )
        if name is not None and occupancy is not None and litres is not None:
            by_name.setdefault(name, RateRow(name, occupancy, litres))
    return Lookups(by_code, by_name)


def _works(code: str, row: Mapping[str, Any]) -> Works:
    n_temp, n_perm, p_temp, p_perm = (number_of(row[column]) for column in CONCENTRATIONS)
    return Works(
        code, text_of(row["WwTW_name"]), text_of(row["Subcatchment_name"]), (n_temp, n_perm, p_temp, p_perm)
    )
