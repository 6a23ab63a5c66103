"""Tables: cut to the terminal's width, short ids and times, nothing that controls a terminal."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from rich.cells import cell_len

from switchyard.cli.output import local_short
from switchyard.cli.table import table_lines

UUID_ = UUID("0197a0f3-8c1e-7a3b-9d2e-1f4c5b6a7d8e")
ROW: dict[str, Any] = {
    "action_uuid": UUID_,
    "created_at": datetime.now().astimezone(),
    "action_name": "webhook-of-a-partner",
    "status": "RETRIES_EXHAUSTED",
    "run": 1,
    "idempotency_key": "order-17",
    "correlation_id": None,
    "error": "no connection: " * 30,
}
FIELDS = "action_uuid=action created_at=submitted action_name=name status run idempotency_key=key correlation_id error"


@pytest.mark.parametrize("width", [80, 100, 120])
def test_newuser_15_a_table_is_cut_to_the_terminal_and_not_wrapped(width: int) -> None:
    head, line = table_lines([ROW], FIELDS, width)
    assert cell_len(line) == width
    assert line.startswith("…5b6a7d8e  ")
    assert line.endswith("…")
    assert "RETRIES_EXHAUSTED" in line, "a status is never cut"
    assert "correlation" not in head, "an empty column is left out"


def test_what_is_not_a_terminal_gets_every_character() -> None:
    _, line = table_lines([ROW], FIELDS, None)
    assert ROW["error"].strip() in line


def test_the_last_column_can_continue_below() -> None:
    _, *lines = table_lines([ROW], FIELDS, 100, folded=True)
    assert "".join(lines).replace(" ", "").endswith("noconnection:" * 29)
    assert max(map(cell_len, lines)) <= 100


def test_wide_characters_and_line_breaks_keep_the_columns() -> None:
    rows = [
        {"name": "日本語の名前", "error": "a\nb\x1b[2J\x9b", "run": 1},
        {"name": "x", "error": "c", "run": 2},
    ]
    _, first, second = table_lines(rows, "name run error", 30)
    assert first == "日本語の名前  1    a b\ufffd[2J\ufffd\ufffd"[: len(first)]
    assert second == "x             2    c"
    assert "\x1b" not in first
    assert "\x9b" not in first


def test_newuser_20_the_heading_of_times_names_the_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    now = datetime.now().astimezone()
    head, _ = table_lines([ROW], FIELDS, 120)
    assert f"submitted {now:%Z}" in head
    assert local_short(now, now) == f"{now:%H:%M:%S}"
    assert local_short(now - timedelta(days=800), now) == f"{now - timedelta(days=800):%Y-%m-%d}"


def test_colour_is_a_matter_of_the_whole_cell() -> None:
    _, line = table_lines([{"status": "FAILED", "run": 1}], "status run", 80, coloured=True)
    assert line == "\x1b[1;31mFAILED\x1b[0m  1"
