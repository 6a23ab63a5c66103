"""The columns of a nutrient result, in order."""

from collections.abc import Mapping, Sequence

from assessment.results import Kind, Row

COLUMNS: Mapping[str, Kind] = {
    "RLB_ID": "integer",
    "id": "text",
    "Name": "text",
    "Dwel_Cat": "text",
    "Source": "text",
    "Dwellings": "integer",
    "Dev_Area_Ha": "real",
    "AreaInNNCatchment": "real",
    "NN_Catchment": "text",
    "Dev_SubCatchment": "text",
    "Majority_LPA": "text",
    "Majority_WwTw_ID": "integer",
    "WwTW_name": "text",
    "WwTw_SubCatchment": "text",
    "N_LU_Uplift": "real",
    "P_LU_Uplift": "real",
    "N_LU_postSuDS": "real",
    "P_LU_postSuDS": "real",
    "Occ_Rate": "real",
    "Water_Usage_L_Day": "real",
    "Litres_used": "real",
    "Nitrogen_2025_2030": "real",
    "Nitrogen_2030_onwards": "real",
    "Phosphorus_2025_2030": "real",
    "Phosphorus_2030_onwards": "real",
    "N_WwTW_Temp": "real",
    "P_WwTW_Temp": "real",
    "N_WwTW_Perm": "real",
    "P_WwTW_Perm": "real",
    "N_Total": "real",
    "P_Total": "real",
    "warnings": "list",
}

OUT_OF_SCOPE: Mapping[str, Kind] = {
    "RLB_ID": "integer",
    "id": "text",
    "Name": "text",
    "Dwel_Cat": "text",
    "Source": "text",
    "Dwellings": "integer",
    "Dev_Area_Ha": "real",
    "Majority_LPA": "text",
    "Majority_WwTw_ID": "integer",
    "Reason": "text",
    "warnings": "list",
}
"""The columns of sites that are not assessed."""


def typed(columns: Mapping[str, Kind], rows: Sequence[Row]) -> Mapping[str, Kind]:
    """The columns for these rows: codes of works are numbers, unless one of them is not."""
    coded = all(isinstance(row["Majority_WwTw_ID"], int) for row in rows)
    return columns if coded else {**columns, "Majority_WwTw_ID": "text"}
