"""Results as CSV: UTF-8, one header line, empty cells for nulls."""

import csv
from pathlib import Path

from assessment.output.values import as_text
from assessment.results import Table


def write(path: Path, table: Table) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table.columns)
        writer.writerows([as_text(row[column]) for column in table.columns] for row in table.rows)
