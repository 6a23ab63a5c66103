"""Reports of benchmarks: a table in the terminal, and a JSON file in results/."""

import json
import os
import re
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

FOLDER = "SWITCHYARD_BENCH_RESULTS"  # where the files go, when many benchmarks are run as one
RESULTS = Path(os.environ.get(FOLDER) or Path(__file__).parent.parent / "results")


@dataclass(frozen=True, slots=True)
class Figure:
    """One number; where it has a goal, it is met or missed. Those of one chart are drawn beside each other."""

    name: str
    value: float
    unit: str
    at_least: float | None = None
    at_most: float | None = None
    chart: str | None = None

    @property
    def met(self) -> bool | None:
        if self.at_least is None and self.at_most is None:
            return None
        low = self.at_least if self.at_least is not None else float("-inf")
        high = self.at_most if self.at_most is not None else float("inf")
        return low <= self.value <= high

    @property
    def told(self) -> str:
        """The name, after what the chart is of: there it is beside others, here alone."""
        return f"{self.chart}: {self.name}" if self.chart else self.name

    @property
    def goal(self) -> str:
        """The goal, and whether it is met."""
        if self.met is None:
            return ""
        wanted = f"at least {self.at_least:g}" if self.at_least is not None else f"at most {self.at_most:g}"
        return f"{wanted}: {'met' if self.met else 'MISSED'}"


def publish(title: str, figures: Sequence[Figure]) -> None:
    """Print the table and write results/<title>.json."""
    show({title: figures})
    RESULTS.mkdir(parents=True, exist_ok=True)
    content = {
        "title": title,
        "at": time.time(),
        "figures": [{**asdict(figure), "met": figure.met} for figure in figures],
    }
    name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    (RESULTS / f"{name}.json").write_text(json.dumps(content, indent=2))


def show(titled: dict[str, Sequence[Figure]]) -> None:
    """One table of all of them."""
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for heading in ("", "figure", "value", "unit", "goal"):
        table.add_column(heading, justify="right" if heading == "value" else "left")
    for title, figures in titled.items():
        for number, figure in enumerate(figures):
            shown = f"{figure.value:,.2f}" if abs(figure.value) >= 1 else f"{figure.value:.3g}"
            table.add_row(title if number == 0 else "", figure.told, shown, figure.unit, figure.goal)
    Console(width=None if sys.stdout.isatty() else 140).print(table)
