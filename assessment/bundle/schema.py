"""The schema of a bundle: its layers and tables, their columns, and the names that sources use for them."""

from collections.abc import Iterable, Mapping
from typing import Literal

from switchyard.errors import BadInput

Kind = Literal["text", "code", "number"]

LAYERS: Mapping[str, Mapping[str, Kind]] = {
    "coefficient_layer": {
        "lu_curr_n_coeff": "number",
        "lu_curr_p_coeff": "number",
        "n_resi_coeff": "number",
        "p_resi_coeff": "number",
    },
    "wwtw_catchments": {"WwTw_ID": "code"},
    "lpa_boundaries": {"NAME": "text"},
    "nn_catchments": {"N2K_Site_N": "text"},
    "subcatchments": {"OPCAT_NAME": "text"},
    "gcn_risk_zones": {"RZ": "text"},
    "gcn_ponds": {},
}

ON_GRID = {"gcn_risk_zones", "gcn_ponds"}
"""Layers whose rules require a grid; snapped to it before they are cut, so that no cut bends an edge."""

DBASE = 10
"""The length to which a shapefile truncates column names."""

TABLES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "WwTw_lookup": {
        "WwTW_code": ("code",),
        "WwTW_name": ("name",),
        "Subcatchment_name": ("subcatchment", "WwTw_SubCatchment"),
        "Nitrogen_2025_2030": ("nitrogen_conc_2025_2030_mg_L",),
        "Nitrogen_2030_onwards": ("nitrogen_conc_2030_onwards_mg_L",),
        "Phosphorus_2025_2030": ("phosphorus_conc_2025_2030_mg_L",),
        "Phosphorus_2030_onwards": ("phosphorus_conc_2030_onwards_mg_L",),
    },
    "rates_lookup": {
        "NN_Catchment": (),
        "Occ_Rate": ("occupancy_rate",),
        "Water_Usage_L_Day": ("water_usage_L_per_person_day",),
    },
}

NEEDS: Mapping[str, tuple[str, ...]] = {
    "nutrient": (
        "coefficient_layer",
        "wwtw_catchments",
        "lpa_boundaries",
        "nn_catchments",
        "subcatchments",
        *TABLES,
    ),
    "gcn": ("gcn_risk_zones",),
}
"""The layers and tables that each assessment needs."""


def find_column(wanted: str, available: Iterable[str], aliases: Iterable[str] = ()) -> str | None:
    """The source's spelling of a column: an exact match, else one in another case, else an alias."""
    names = list(available)
    if wanted in names:
        return wanted
    folded = {name.casefold(): name for name in reversed(names)}
    return next((folded[n.casefold()] for n in (wanted, *aliases) if n.casefold() in folded), None)


def layer_columns(layer: str, available: Iterable[str]) -> dict[str, str]:
    """Map our column names to the source's, for all columns that the layer needs."""
    names = list(available)
    found = {column: find_column(column, names, (column[:DBASE],)) for column in LAYERS[layer]}
    missing = [column for column, source in found.items() if source is None]
    if missing:
        raise BadInput(
            f"{layer}: the attribute {', '.join(missing)} is missing; there are {', '.join(names)}"
        )
    return {column: source for column, source in found.items() if source is not None}
