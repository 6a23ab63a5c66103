"""The drawing of a graph: its steps in columns, each to the right of all steps that it waits for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from signalbox.pages import words
from signalbox.records.graph import Step
from switchyard.status import ENDS, Status

MOST_STEPS, MOST_EDGES = 60, 240  # steps that are drawn; the table lists the rest
WIDTH, HEIGHT, BESIDE, BELOW = 156, 66, 52, 28
LANE = 10  # the height of an edge that crosses a column
MARKS = {
    Status.SUCCESSFUL: "ok",
    Status.QUEUED: "on",
    Status.RUNNING: "on",
    Status.PENDING: "wait",
    Status.BACKOFF: "hold",
    Status.CANCELED: "hold",
}
Item = str | tuple[str, str, int]  # a step, or the place where an edge crosses a column
Edge = tuple[str, str]
Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Box:
    """A step: its position, its three lines of text, and its mark."""

    x: int
    y: int
    lines: tuple[str, str, str]
    mark: str


@dataclass(frozen=True, slots=True)
class GraphDrawing:
    """The whole drawing; `summary` is the same in words."""

    width: int
    height: int
    boxes: list[Box]
    arrows: list[tuple[str, str]]
    summary: str


def draw_graph(steps: Sequence[Step], now: datetime) -> GraphDrawing | None:
    """The drawing; None if the graph is too large to be readable."""
    edges = [(before, step.name) for step in steps for before in step.after]
    if not 0 < len(steps) <= MOST_STEPS or len(edges) > MOST_EDGES:
        return None
    by_name = {step.name: step for step in steps}
    columns = _columns(by_name)
    places, height = _places(_ordered(_items(columns, edges), _passed(edges, columns)))
    boxes = [
        Box(
            *places[name],
            (_cut(name, 17), _cut(step.action_name, 22), _cut(about(step, now), 22)),
            mark(step),
        )
        for name, step in by_name.items()
    ]
    arrows = [(_arrow(edge, columns, places), _kind(by_name[edge[0]])) for edge in edges]
    width = (max(columns.values()) + 1) * (WIDTH + BESIDE) - BESIDE + 4
    return GraphDrawing(width, height, boxes, sorted(arrows, key=lambda arrow: arrow[1]), _summary(steps))


def mark(step: Step) -> str:
    """The CSS class of its box."""
    return MARKS.get(Status(step.status), "bad")


def about(step: Step, now: datetime) -> str:
    """The steps it waits for, or how long it took."""
    if step.status == Status.PENDING and step.after:
        return f"after {step.after[0]}" if len(step.after) == 1 else f"after {len(step.after)} others"
    word = words.word(step.status)
    if step.started_at is None:
        return word.lower()
    took = words.took(((step.ended_at or now) - step.started_at).total_seconds())
    return took if step.status == Status.SUCCESSFUL else f"{word.lower()}, {took}"


def _columns(steps: Mapping[str, Step]) -> dict[str, int]:
    """The length of the longest path to each step; the steps are in topological order."""
    found = dict.fromkeys(steps, 0)
    for name, step in steps.items():
        found[name] = max((found[before] + 1 for before in step.after), default=0)
    return found


def _passed(edges: Sequence[Edge], columns: Mapping[str, int]) -> dict[Item, list[Item]]:
    """The left neighbours of each item, with a place in every column that an edge crosses."""
    found: dict[Item, list[Item]] = {}
    for before, after in edges:
        way = _way((before, after), columns)
        for left, right in pairwise(way):
            found.setdefault(right, []).append(left)
    return found


def _way(edge: Edge, columns: Mapping[str, int]) -> list[Item]:
    before, after = edge
    between = range(columns[before] + 1, columns[after])
    return [before, *((before, after, column) for column in between), after]


def _items(columns: Mapping[str, int], edges: Sequence[Edge]) -> list[list[Item]]:
    found: list[list[Item]] = [[] for _ in range(max(columns.values()) + 1)]
    for name, column in columns.items():
        found[column].append(name)
    for edge in edges:
        for item in _way(edge, columns)[1:-1]:
            found[int(item[2])].append(item)
    return found


def _ordered(items: list[list[Item]], left_of: Mapping[Item, list[Item]]) -> list[list[Item]]:
    """Each column, sorted by the positions of the left neighbours, so that few edges cross."""
    rows: dict[Item, int] = {}

    def middle(item: Item) -> float:
        known = [rows[left] for left in left_of.get(item, ())]
        return sum(known) / len(known) if known else 0.0

    for column in items:
        column.sort(key=middle)
        rows |= {item: row for row, item in enumerate(column)}
    return items


def _places(items: list[list[Item]]) -> tuple[dict[Item, Place], int]:
    """The upper left corner of each item, and the total height."""
    places: dict[Item, Place] = {}
    lowest = 0
    for number, column in enumerate(items):
        y = 4
        for item in column:
            places[item] = (2 + number * (WIDTH + BESIDE), y)
            y += (HEIGHT if isinstance(item, str) else LANE) + BELOW
        lowest = max(lowest, y - BELOW + 4)
    return places, lowest


def _arrow(edge: Edge, columns: Mapping[str, int], places: Mapping[Item, Place]) -> str:
    """From the right side of a step to the left side of another, through its places in between."""
    way = _way(edge, columns)
    x, y = places[way[0]][0] + WIDTH, _middle(way[0], places)
    path = f"M{x} {y}"
    for item in way[1:]:
        left, at = places[item][0], _middle(item, places)
        left -= 2 * isinstance(item, str)
        path += f"C{x + BESIDE // 2} {y} {left - BESIDE // 2} {at} {left} {at}"
        x, y = left, at
        if not isinstance(item, str):
            x += WIDTH
            path += f"H{x}"
    return path


def _middle(item: Item, places: Mapping[Item, Place]) -> int:
    return places[item][1] + (HEIGHT if isinstance(item, str) else LANE) // 2


def _kind(before: Step) -> str:
    if before.status in ENDS:
        return "done"
    return "next" if mark(before) == "on" else ""


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _summary(steps: Sequence[Step]) -> str:
    return " ".join(
        f"{step.name}: {words.word(step.status).lower()}"
        + (f", after {', '.join(step.after)}." if step.after else ".")
        for step in steps
    )
