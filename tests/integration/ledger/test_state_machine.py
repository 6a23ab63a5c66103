"""The ledger against the drawing in docs/state-machine.md: every arrow, and every arrow that is not there."""

import re
from itertools import product
from pathlib import Path

import psycopg
import pytest

from tests.integration.ledger.ledger import Ledger
from tests.model.thread import ENDS, RANK

pytestmark = pytest.mark.database

DRAWING = Path(__file__).parents[3] / "docs" / "state-machine.md"
GROUPS = {"open": RANK, "ended": ENDS, "unsuccessful": [status for status in ENDS if status != "SUCCESSFUL"]}
ARROW = re.compile(r"^ +(\w+) --> (\w+): (same attempt|next attempt|same run|next run)$", re.MULTILINE)

Step = tuple[str, str, str]


def drawn() -> set[Step]:
    """Every step that the drawing allows, groups spelt out; an end of the run may come at either attempt."""
    steps: set[Step] = set()
    for source, target, where in ARROW.findall(DRAWING.read_text()):
        places = ["same attempt", "next attempt"] if where == "same run" else [where]
        steps |= set(product(GROUPS.get(source, [source]), GROUPS.get(target, [target]), places))
    return steps


def taken(ledger: Ledger, source: str, target: str, where: str) -> bool:
    """Whether a thread in `source` follows the event `target`."""
    uuid = ledger.submit()
    if source != "PENDING":
        ledger.event(uuid, source, 1, 1)
    attempt = ledger.thread(uuid)["attempt"]
    run, at = {"same attempt": (1, attempt), "next attempt": (1, attempt + 1), "next run": (2, 0)}[where]
    try:
        ledger.event(uuid, target, run, at)
    except psycopg.errors.CheckViolation:
        return False
    return not ledger.events(uuid)[-1][1]


def test_threads_move_along_the_drawn_arrows_and_no_others(ledger: Ledger) -> None:
    everything = list(product([*RANK, *ENDS], [*RANK, *ENDS], ["same attempt", "next attempt", "next run"]))
    found = {step for step in everything if taken(ledger, *step)}
    assert found == drawn()
    assert len(found) == 6 + 16 + 2 * 24 + 4 + 5
