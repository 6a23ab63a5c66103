"""How every benchmark tells what it found: a table in the terminal, and a JSON file in results/."""

import json
import os
import platform
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

RESULTS = Path(__file__).parent.parent / "results"


@dataclass(frozen=True, slots=True)
class Figure:
    """One number; where it has a goal, it is met or missed."""

    name: str
    value: float
    unit: str
    at_least: float | None = None
    at_most: float | None = None

    @property
    def met(self) -> bool | None:
        if self.at_least is None and self.at_most is None:
            return None
        low = self.at_least if self.at_least is not None else float("-inf")
        high = self.at_most if self.at_most is not None else float("inf")
        return low <= self.value <= high


def publish(title: str, figures: Sequence[Figure]) -> None:
    """Print the table and write results/<title>.json."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for heading in ("figure", "value", "unit", "goal"):
        table.add_column(heading, justify="right" if heading == "value" else "left")
    for figure in figures:
        table.add_row(figure.name, f"{figure.value:,.2f}", figure.unit, _goal(figure))
    Console().print(table)
    RESULTS.mkdir(exist_ok=True)
    machine = {"cores": os.cpu_count(), "machine": platform.machine(), "python": platform.python_version()}
    content = {"title": title, "at": time.time(), "machine": machine,
               "figures": [{**asdict(figure), "met": figure.met} for figure in figures]}  # fmt: skip
    (RESULTS / f"{title.split(maxsplit=1)[0].lower()}-{'-'.join(title.split()[1:])}.json").write_text(
        json.dumps(content, indent=2)
    )


def _goal(figure: Figure) -> str:
    if figure.met is None:
        return ""
    wanted = f"at least {figure.at_least:g}" if figure.at_least is not None else f"at most {figure.at_most:g}"
    return f"{wanted}: {'met' if figure.met else 'MISSED'}"
