"""A bar chart of what `make bench` found: python -m benchmarks.picture results/bench.json docs/images/bench.svg"""

import json
import sys
from collections import defaultdict
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

WIDTH, LABEL, BAR, ROW = 860, 250, 430, 22
# Ours, and everybody else; readable on light and dark pages.
OURS, THEIRS, INK = "#2f81f7", "#8b949e", "#6e7681"
NAMES = ("switchyard", "conductor", "caboose", "ours")


def draw(content: Mapping[str, Any]) -> str:
    """The whole picture: a group of bars for each chart, in the order in which they were measured."""
    lines: list[str] = []
    y = 10
    for chart, bars in charts(content).items():
        y += 26
        lines.append(_text(0, y, chart, "bold"))
        y += 8
        most = max(value for _, value, _ in bars) or 1.0
        for name, value, unit in bars:
            lines += _bar(y, name, value, unit, value / most)
            y += ROW
    lines.append(_text(0, y + 30, _foot(content), "normal"))
    height = y + 44
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'font-family="system-ui, sans-serif" font-size="13" fill="{INK}">\n'
        + "\n".join(lines)
        + "\n</svg>\n"
    )


def charts(content: Mapping[str, Any]) -> dict[str, list[tuple[str, float, str]]]:
    """The figures that ask to be drawn, by chart."""
    found: dict[str, list[tuple[str, float, str]]] = defaultdict(list)
    for one in content["benchmarks"]:
        for published in one["published"]:
            for figure in published["figures"]:
                if figure.get("chart"):
                    found[figure["chart"]].append((figure["name"], figure["value"], figure["unit"]))
    return found


def _bar(y: int, name: str, value: float, unit: str, share: float) -> list[str]:
    colour = OURS if name.startswith(NAMES) else THEIRS
    width = max(1, round(BAR * share))
    return [
        f'<text x="{LABEL - 8}" y="{y + 14}" text-anchor="end">{escape(name)}</text>',
        f'<rect x="{LABEL}" y="{y + 3}" width="{width}" height="{ROW - 7}" rx="2" fill="{colour}"/>',
        f'<text x="{LABEL + width + 6}" y="{y + 14}">{shown(value)} {escape(unit)}</text>',
    ]


def shown(value: float) -> str:
    """Short, and never zero for a positive value."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def _text(x: int, y: int, text: str, weight: str) -> str:
    return f'<text x="{x}" y="{y}" font-weight="{weight}">{escape(text)}</text>'


def _foot(content: Mapping[str, Any]) -> str:
    machine, ran = content["machine"], content["benchmarks"]
    where = f"{machine['cores']} cores, {machine['memory_gib']} GiB, {machine['processor']}"
    return f"{where} · {max(one['date'] for one in ran)[:10]} · {', '.join(sorted({one['commit'] for one in ran}))}"


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(draw(json.loads(Path(sys.argv[1]).read_text())))
