"""The live screen of a campaign: what it says at each moment, how wide it is, and its end by Ctrl-C."""

import io
from typing import Any
from uuid import UUID

import pytest
from rich.cells import cell_len
from rich.console import Console

from switchyard.cli import campaign_screen

ROW: dict[str, Any] = {
    "name": "the north sea in the spring of 2026, at ten metres",
    "action_uuid": UUID("0197a0f3-8c1e-7a3b-9d2e-1f4c5b6a7d8e"),
    "workflow": "ndvi",
    "action_name": None,
    "status": "RUNNING",
    "items": 200_000,
    "successful": 149_000,
    "unsuccessful": 0,
    "open": 1_000,
    "in_flight": 1_000,
    "waiting": 50_000,
    "complete": True,
    "repeated": 0,
    "rejected": 0,
    "source_error": None,
    "paused_at": None,
    "ended_at": None,
    "per_second": 12.5,
    "seconds_left": 4080.0,
}


def shown(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> str:
    """The screen on a terminal of 80 columns without colours, as Ctrl-C found it."""
    screen = io.StringIO()
    console = Console(file=screen, width=80, force_terminal=True, no_color=True, color_system=None)
    monkeypatch.setattr(campaign_screen, "console", lambda: console)

    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("time.sleep", interrupted)
    campaign_screen.live(lambda: {**ROW, **changes})
    return screen.getvalue()


def test_it_fits_80_columns_and_ends_with_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = shown(monkeypatch)
    assert "149,000 of 200,000 items done, 0 of them without success." in screen
    assert "12.5 items a second; time left: 1 h 8 min." in screen
    assert "\n" + 44 * "━" + "╸ " in screen
    assert " 74 %" in screen
    console = Console(width=80, no_color=True)
    with console.capture() as printed:
        console.print(campaign_screen._screen({**ROW, "unsuccessful": 51_000}))
    lines = printed.get().splitlines()
    assert len(lines) == 6
    assert max(map(cell_len, lines)) <= 80


def test_100_percent_is_shown_only_when_all_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    assert " 99 %" in shown(monkeypatch, successful=199_999)
    assert " 100 %" in shown(monkeypatch, successful=199_999, unsuccessful=1)
    assert " 0 %" in shown(monkeypatch, items=0, successful=0)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"per_second": 0.0, "successful": 0}, "Nothing has ended yet."),
        ({"per_second": 0.0}, "Nothing has ended in the last 5 minutes."),
        ({"complete": False}, "time left: unknown while the source is read."),
    ],
)
def test_pace(changes: dict[str, Any], said: str) -> None:
    assert said in campaign_screen.pace({**ROW, **changes})
