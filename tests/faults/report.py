"""What a campaign did and found: a table for people, a line of JSON for programs, a line of the log."""

import csv
import json
import subprocess
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.faults.campaign import Round
from tests.faults.invariants import Violation

LOG = Path(__file__).parent / "log.csv"
Entry = dict[str, str | int | float]
COLUMNS = ("date", "commit", "seed", "faults", "violations", "rounds", "actions", "minutes", "kinds", "note")


def show_round(console: Console, done: Round, of: int) -> None:
    missed = sum(not each.hit for each in done.struck)
    console.print(
        f"round {done.number}: {len(done.struck) - missed} faults ({missed} hit nothing) in {done.stormed:.0f} s, "
        f"settled in {done.settled:.0f} s; {of} faults, {done.actions} actions so far, "
        f"{len(done.found)} violations"
    )


def show(
    console: Console, rounds: Sequence[Round], missing: dict[str, str], left: Sequence[Violation] = ()
) -> None:
    """The tables of all rounds, and what was found in them and at the stop."""
    hits = sum((done.hits for done in rounds), Counter[str]())
    missed = Counter(each.fault.kind for done in rounds for each in done.struck if not each.hit)
    table = Table("fault", "hit", "hit nothing")
    for kind in sorted(hits | missed):
        table.add_row(kind, str(hits[kind]), str(missed[kind] or ""))
    table.add_section()
    table.add_row("all", str(hits.total()), str(missed.total() or ""))
    console.print(table)
    became = Table("work", "ended as", "")
    for (work, status), count in sorted(rounds[-1].ends.items()) if rounds else ():
        became.add_row(work, status, str(count))
    console.print(became)
    for part, why in missing.items():
        console.print(f"left out, for want of {part}: {why}")
    for violation in (*found(rounds), *left):
        console.print(f"VIOLATION {violation.rule}: {violation.text}", markup=False)


def found(rounds: Sequence[Round]) -> list[Violation]:
    return [violation for done in rounds for violation in done.found]


def entry(
    tested: str, seed: int, rounds: Sequence[Round], left: Sequence[Violation], seconds: float
) -> Entry:
    """One run, as the log has it."""
    hits = sum((done.hits for done in rounds), Counter[str]())
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": tested,
        "seed": seed,
        "faults": hits.total(),
        "violations": len(found(rounds)) + len(left),
        "rounds": len(rounds),
        "actions": rounds[-1].actions if rounds else 0,
        "minutes": round(seconds / 60, 1),
        "kinds": len(hits),
        "note": "; ".join(sorted({violation.rule for violation in (*found(rounds), *left)})),
    }


def append(run: Entry) -> None:
    """Add the run to the committed log."""
    with LOG.open("a", newline="") as file:
        csv.DictWriter(file, COLUMNS, lineterminator="\n").writerow(run)


def as_json(run: Entry) -> str:
    return json.dumps(run)


def commit() -> str:
    """What was tested; a + where files differ from it."""
    shown = subprocess.run(
        ["git", "describe", "--always", "--dirty=+", "--exclude=*"],
        capture_output=True,
        text=True,
        check=False,
    )
    return shown.stdout.strip() or "unknown"
