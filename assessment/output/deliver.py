"""Write all results of an assessment to the object store: tables, report, output.json last.

output.json marks the result as complete, so it is written after all files that it names.
"""

import tempfile
from collections.abc import Callable, Sequence
from hashlib import file_digest
from pathlib import Path
from typing import Any

from assessment.output import csv, geojson, geopackage, geoparquet
from assessment.output.document import document
from assessment.results import Results, Table
from switchyard.store import Store

OUTPUT = "output.json"
REPORT = "report.html"

_WRITERS: dict[str, Callable[[Path, Table], None]] = {
    "csv": csv.write,
    "parquet": geoparquet.write,
    "geojson": geojson.write,
}


def deliver(
    results: Results, store: Store, prefix: str, formats: Sequence[str], report: str | None
) -> dict[str, str]:
    """Write all files under `prefix`; returns the key of each file by name."""
    with tempfile.TemporaryDirectory(prefix="assessment-") as folder:
        paths = _write(results, Path(folder), formats)
        if report is not None:
            paths.append(Path(folder) / REPORT)
            paths[-1].write_text(report, encoding="utf-8")
        files = [_put(store, prefix, path) for path in paths]
    key = _key(prefix, OUTPUT)
    store.put(key, document(results, files))
    return {**{file["name"]: file["key"] for file in files}, OUTPUT: key}


def _write(results: Results, folder: Path, formats: Sequence[str]) -> list[Path]:
    paths = []
    for name in formats:
        if name == "gpkg":
            paths.append(folder / f"{results.assessment}.gpkg")
            geopackage.write(paths[-1], results.tables)
            continue
        for table_name, table in results.tables.items():
            if name == "geojson" and table.geometry is None:
                continue
            paths.append(folder / f"{table_name}.{name}")
            _WRITERS[name](paths[-1], table)
    return paths


def _put(store: Store, prefix: str, path: Path) -> dict[str, Any]:
    key = _key(prefix, path.name)
    with path.open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
    store.put_file(key, path)
    return {"name": path.name, "key": key, "sha256": digest}


def _key(prefix: str, name: str) -> str:
    return f"{prefix.strip('/')}/{name}" if prefix.strip("/") else name
