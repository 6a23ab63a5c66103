"""The drawing of a graph."""

import re
from datetime import UTC, datetime, timedelta
from itertools import combinations
from uuid import uuid4

from signalbox.pages.graph import BELOW, HEIGHT, MOST_STEPS, WIDTH, draw_graph
from signalbox.records.graph import Step

NOW = datetime(2026, 11, 16, 21, 40, tzinfo=UTC)


def step(name: str, *after: str, status: str = "PENDING") -> Step:
    begun = None if status == "PENDING" else NOW - timedelta(minutes=17)
    return Step(
        name=name, action_uuid=uuid4(), action_name="argo", workflow="flood", after=list(after), status=status,
        run=1, attempt=1, started_at=begun, ended_at=NOW if status in ("SUCCESSFUL", "FAILED") else None,
    )  # fmt: skip


FLOOD = [
    step("search", status="SUCCESSFUL"), step("gauges", "search", status="FAILED"), step("ingest", "search", status="SUCCESSFUL"),
    step("classify", "ingest", status="RUNNING"), step("mosaic", "classify"), step("report", "mosaic", "gauges"),
]  # fmt: skip


def test_each_step_is_to_the_right_of_all_that_it_waits_for() -> None:
    drawing = draw_graph(FLOOD, NOW)
    assert drawing is not None
    at = {box.lines[0]: box.x for box in drawing.boxes}
    for each in FLOOD:
        assert all(at[before] + WIDTH < at[each.name] for before in each.after)
    assert all(box.x + WIDTH <= drawing.width and box.y + HEIGHT <= drawing.height for box in drawing.boxes)


def test_no_two_steps_overlap_and_no_edge_crosses_a_step() -> None:
    drawing = draw_graph(FLOOD, NOW)
    assert drawing is not None
    for one, other in combinations(drawing.boxes, 2):
        assert abs(one.x - other.x) >= WIDTH or abs(one.y - other.y) >= HEIGHT + BELOW
    for path, _ in drawing.arrows:
        # An edge passes a column in a straight line, which is where a step could be in its way.
        for x, y in re.findall(r" (\d+) (\d+)H", path):
            inside = [box for box in drawing.boxes if box.x == int(x) and box.y <= int(y) <= box.y + HEIGHT]
            assert inside == []


def test_boxes_and_edges_show_how_far_it_is() -> None:
    drawing = draw_graph(FLOOD, NOW)
    assert drawing is not None
    assert {box.lines[0]: (box.mark, box.lines[2]) for box in drawing.boxes} == {
        "search": ("ok", "17 min"),
        "gauges": ("bad", "failed, 17 min"),
        "ingest": ("ok", "17 min"),
        "classify": ("on", "running, 17 min"),
        "mosaic": ("wait", "after classify"),
        "report": ("wait", "after 2 others"),
    }
    assert sorted(kind for _, kind in drawing.arrows) == ["", "done", "done", "done", "done", "next"]
    assert "report: pending, after mosaic, gauges." in drawing.summary


def test_long_names_are_cut_and_a_large_graph_is_left_to_the_table() -> None:
    drawing = draw_graph([step("n" * 200)], NOW)
    assert drawing is not None
    assert drawing.boxes[0].lines[0] == "n" * 16 + "…"
    assert draw_graph([step(str(number)) for number in range(MOST_STEPS + 1)], NOW) is None
    assert draw_graph([], NOW) is None
