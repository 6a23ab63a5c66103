"""The quality gate: errors that prevent the use of a bundle, and warnings for its users."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from assessment.arrays import Bools, Floats
from assessment.bundle.layer import Layer
from assessment.bundle.lookups import CONCENTRATIONS, code_of, number_of, text_of
from assessment.bundle.manifest import Finding, Manifest

RANGES = {
    "lu_curr_n_coeff": 50.0,
    "n_resi_coeff": 50.0,
    "lu_curr_p_coeff": 5.0,
    "p_resi_coeff": 5.0,
}
SHRINKS_TO = 0.9
ZONES = {"Red", "Amber", "Green"}

Rows = Sequence[Mapping[str, Any]]


def coefficients(parcels: Layer) -> Iterator[Finding]:
    """Report out-of-range coefficients as errors and missing ones as warnings."""
    for column, highest in RANGES.items():
        values = parcels.numbers(column)
        wrong = (values < 0) | (values > highest)
        if wrong.any():
            message = (
                f"{column} outside 0-{highest:g} in {_count(wrong)}, first {_named(parcels, wrong, values)}"
            )
            yield Finding("error", "coefficient_layer", message)
        if np.isnan(values).any():
            yield Finding(
                "warning", "coefficient_layer", f"{column} is not a number in {_count(np.isnan(values))}"
            )


def _count(rows: Bools) -> str:
    return f"{int(rows.sum()):,} of {len(rows):,} parcels"


def _named(parcels: Layer, rows: Bools, values: Floats) -> str:
    """The source row and value of the first affected parcel."""
    row = int(np.flatnonzero(rows)[0])
    return f"row {int(parcels.source_row[row]) + 1}: {values[row]:g}"


def shrunk(layers: Mapping[str, int], previous: Manifest | None) -> Iterator[Finding]:
    """A layer that lost more than a tenth of its rows since the last version was probably truncated."""
    for name, count in layers.items():
        before = previous.layers[name].features if previous and name in previous.layers else 0
        if count < SHRINKS_TO * before:
            yield Finding(
                "error", name, f"{count:,} rows, under 90 % of the {before:,} of version {_of(previous)}"
            )
    if previous:
        for name in previous.layers.keys() - layers.keys():
            yield Finding("error", name, f"missing, and version {_of(previous)} had it")


def _of(manifest: Manifest | None) -> str:
    return manifest.version if manifest else "?"


def works(rows: Rows, catchments: Layer | None) -> Iterator[Finding]:
    """Check the works lookup itself, and against the catchments that refer to it."""
    codes = [code_of(row["WwTW_code"]) for row in rows]
    known = {code for code in codes if code}
    nameless = sum(code is None for code in codes)
    if nameless:
        yield Finding("warning", "WwTw_lookup", f"{nameless} of {len(rows)} rows have no code")
    repeated = sorted({code for code in known if codes.count(code) > 1})
    if repeated:
        yield Finding(
            "warning", "WwTw_lookup", f"codes given twice, the first is used: {', '.join(repeated)}"
        )
    for column in CONCENTRATIONS:
        wrong = {
            str(r[column]) for r in rows if text_of(r[column]) is not None and number_of(r[column]) is None
        }
        if wrong:
            values = ", ".join(repr(value) for value in sorted(wrong))
            yield Finding("warning", "WwTw_lookup", f"{column} is not a number and counts as null: {values}")
    if catchments is not None:
        yield from _unknown_works(catchments, known)


def _unknown_works(catchments: Layer, known: set[str]) -> Iterator[Finding]:
    used = {code for code in catchments.texts("WwTw_ID") if code}
    missing = sorted(used - known, key=lambda code: (len(code), code))
    if missing:
        listed = ", ".join(missing[:30]) + (", ..." if len(missing) > 30 else "")
        message = f"{len(missing)} of {len(used)} works codes are not in the lookup: {listed}"
        yield Finding("warning", "wwtw_catchments", message)


def rates(rows: Rows, catchments: Layer | None) -> Iterator[Finding]:
    """Report rows without usable rates, and catchments without a row."""
    known = {text_of(row["NN_Catchment"]) for row in rows}
    unusable = [
        r for r in rows if number_of(r["Occ_Rate"]) is None or number_of(r["Water_Usage_L_Day"]) is None
    ]
    if unusable:
        yield Finding("warning", "rates_lookup", f"{len(unusable)} rows have no usable rates")
    if catchments is not None:
        for name in sorted({n for n in catchments.texts("N2K_Site_N") if n} - known):
            yield Finding("warning", "nn_catchments", f"{name!r} has no row in rates_lookup")


def zones(layer: Layer) -> Iterator[Finding]:
    unknown = sorted({str(zone) for zone in layer.texts("RZ")} - ZONES)
    if unknown:
        yield Finding("error", "gcn_risk_zones", f"RZ is none of Red, Amber, Green: {', '.join(unknown[:5])}")
