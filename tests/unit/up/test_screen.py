"""The live screen: how far everything is, and as many rows as fit."""

import io
from uuid import uuid4

import pytest
from rich.console import Console

from switchyard.up.screen import MOST, _screen


@pytest.mark.parametrize("more", [0, 3])
def test_it_counts_all_and_shows_the_first(more: int) -> None:
    row = {
        "workflow": "nutrient", "action_name": "shell", "status": "RUNNING", "run": 1, "attempt": 1,
        "detail": {"progress": 0.5}, "callbacks": 0, "error": None, "note": None, "ended_at": None,
    }  # fmt: skip
    rows = [{**row, "action_uuid": uuid4()} for _ in range(MOST + more)]
    rows[0] |= {"ended_at": "now", "status": "SUCCESSFUL"}
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(_screen(rows, 120))
    text = console.export_text()
    assert f"1 of {MOST + more} ended" in text
    assert text.count("nutrient") == MOST
    assert (f"… and {more} more" in text) == bool(more)
