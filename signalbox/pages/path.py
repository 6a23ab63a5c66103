"""The drawing of the state machine with the path of one action."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from signalbox.pages import words
from signalbox.pages.story import Run
from switchyard.status import ENDS, Status

BAD_ENDS = [
    Status.FAILED,
    Status.TIMED_OUT,
    Status.INVALID,
    Status.CANCELED,
    Status.RETRIES_EXHAUSTED,
]
GOOD, BAD = "SUCCESSFUL", "BAD"
PLACES = {"PENDING": (4, 44), "QUEUED": (210, 44), "RUNNING": (420, 44), "BACKOFF": (210, 130)}
# Every transition of an action; BAD is the unsuccessful end that it reached.
ARROWS = {
    ("PENDING", "QUEUED"): "M112 63H208",
    ("QUEUED", "RUNNING"): "M318 63H418",
    ("PENDING", "RUNNING"): "M70 43C120 8 400 8 452 42",
    ("PENDING", "BACKOFF"): "M54 84C54 124 120 148 208 148",
    ("BACKOFF", "PENDING"): "M208 160C90 160 30 140 30 86",
    ("QUEUED", "BACKOFF"): "M246 84V128",
    ("BACKOFF", "QUEUED"): "M278 129V85",
    ("RUNNING", "BACKOFF"): "M484 84C484 130 420 150 320 150",
    ("BACKOFF", "RUNNING"): "M318 140C390 134 448 120 454 86",
    ("RUNNING", GOOD): "M528 58C570 58 570 48 618 48",
    ("RUNNING", BAD): "M528 66C576 70 570 104 618 104",
    ("QUEUED", GOOD): "M284 43C320 14 560 14 630 28",
    ("QUEUED", BAD): "M306 84C350 112 520 116 618 110",
    ("PENDING", GOOD): "M56 43C90 -6 600 -6 650 28",
    ("PENDING", BAD): "M80 84C130 122 520 124 618 114",
    ("BACKOFF", GOOD): "M318 158C460 170 560 90 618 56",
    ("BACKOFF", BAD): "M318 166C450 176 560 160 622 126",
    (BAD, "PENDING"): "M752 104C808 104 808 202 700 202H160C60 202 18 170 18 86",
    (BAD, "BACKOFF"): "M752 110C790 110 790 190 700 190H300C270 190 262 184 262 172",
    (GOOD, "PENDING"): "M752 48C824 48 824 206 700 206H160C56 206 12 170 12 86",
}
MAIN = [("PENDING", "QUEUED"), ("QUEUED", "RUNNING"), ("RUNNING", GOOD), ("RUNNING", BAD)]


@dataclass(frozen=True, slots=True)
class Box:
    """A state in the drawing: its position, its two lines of text, and its mark."""

    x: int
    y: int
    width: int
    title: str
    below: str
    mark: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """The whole drawing; `summary` is the same in words."""

    width: int
    height: int
    boxes: list[Box]
    arrows: list[tuple[str, str]]
    summary: str


def draw_path(runs: Sequence[Run], now: datetime) -> Drawing:
    """The state machine with this action's path: the last run as solid lines, earlier runs dashed."""
    taken: dict[tuple[str, str], str] = {}
    for run in runs:
        steps = [_place(step.status) for step in run.steps]
        kind = "done" if run is runs[-1] else "old"
        taken |= {pair: kind for pair in pairwise(steps) if pair in ARROWS}
    for before, after in pairwise(runs):
        opened = (_place(before.status), _place(after.steps[0].status))
        taken |= {opened: "old"} if opened in ARROWS else {}
    arrows = [(ARROWS[pair], "") for pair in MAIN if pair not in taken]
    arrows += [
        (ARROWS[pair], kind) for pair, kind in sorted(taken.items(), key=lambda item: item[1], reverse=True)
    ]
    returns = any(before in (GOOD, BAD) for before, _ in taken)  # around all boxes
    size = (830, 216) if returns else (756, 180)
    return Drawing(*size, [*_open_boxes(runs, now), *_end_boxes(runs)], arrows, _summary(runs))


def _place(status: Status) -> str:
    return BAD if status in BAD_ENDS else status.value


def _open_boxes(runs: Sequence[Run], now: datetime) -> list[Box]:
    spent: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for run in runs:
        for step in run.steps:
            if step.status not in ENDS:
                spent[step.status][run.number] += step.seconds(now)
    current = runs[-1].status
    boxes = []
    for name, (x, y) in PLACES.items():
        times = [words.took(seconds) for seconds in spent[name].values()][-2:]
        mark = "off" if not times else "on" if current == name else "hold" if name == "BACKOFF" else ""
        boxes.append(Box(x, y, 108, words.word(name), ", ".join(times), mark))
    return boxes


def _end_boxes(runs: Sequence[Run]) -> list[Box]:
    ends = {run.status: run for run in runs if run.status in ENDS}
    bad = next((status for status in reversed(ends) if status in BAD_ENDS), None)
    boxes = [_end_box(Status.SUCCESSFUL, ends, 28)]
    if bad is None:
        boxes.append(Box(620, 84, 132, "Another end", "failed, canceled, …", "off"))
    else:
        boxes.append(_end_box(bad, ends, 84))
    return boxes


def _end_box(status: Status, ends: dict[Status, Run], y: int) -> Box:
    run = ends.get(status)
    if run is None:
        return Box(620, y, 132, words.word(status), "", "off")
    mark = "ok" if status is Status.SUCCESSFUL else "hold" if status is Status.CANCELED else "bad"
    return Box(620, y, 132, words.word(status), f"run {run.number}", mark)


def _summary(runs: Sequence[Run]) -> str:
    parts = [
        f"Run {run.number}: {', '.join(words.word(step.status).lower() for step in run.steps)}."
        for run in runs
    ]
    return " ".join(parts[-20:])
