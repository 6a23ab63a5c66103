"""The summary that `assessment run` prints at the end."""

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assessment.job import Done


def summary(done: "Done", place: str, *, as_json: bool) -> None:
    results = done.results
    if as_json:
        content = {
            "assessment": results.assessment,
            "summary": dict(results.summary),
            "files": done.files,
            "provenance": dict(results.provenance),
            "warnings": list(results.warnings),
        }
        print(json.dumps(content, indent=2))
        return
    print("\n".join(_nutrient(done) if results.assessment == "nutrient" else _gcn(done)))
    for warning in results.warnings:
        print(f"note: {warning}")
    print(f"written to {place}: {', '.join(done.files)}")


def _nutrient(done: "Done") -> list[str]:
    said = done.results.summary
    return [
        f"{said['sites']} of {said['sites_submitted']} sites in scope, {said['warnings']} warnings",
        f"nitrogen   {said['n_total']:>12,.2f} kg a year",
        f"phosphorus {said['p_total']:>12,.2f} kg a year",
    ]


def _gcn(done: "Done") -> list[str]:
    habitat, ponds = done.results.tables["habitat"].rows, done.results.tables["ponds"].rows
    counted = sum(row["FREQUENCY"] for row in ponds)
    lines = [f"{done.results.summary['sites']} sites, {counted} ponds in risk zones"]
    for zone in ("Red", "Amber", "Green"):
        areas = {
            area: sum(r["Shape_Area"] for r in habitat if r["RZ"] == zone and r["Area"] == area)
            for area in ("RLB", "Buffer")
        }
        lines.append(f"{zone:<6} {areas['RLB']:>14,.1f} m2 on site {areas['Buffer']:>14,.1f} m2 around")
    return lines
