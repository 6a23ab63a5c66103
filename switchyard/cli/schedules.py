"""`switchyard schedules`: apply, list, show, trigger, pause, resume, backfill."""

from datetime import datetime
from typing import Annotated, Any
from zoneinfo import ZoneInfo

import typer

from switchyard.cli.database import configured, connected, whole_config
from switchyard.cli.options import Actor, AsJson, ConfigFile
from switchyard.cli.output import as_text, print_json, printable
from switchyard.cli.schedule_decisions import Name, backfill, pause, resume, schedule_row, trigger
from switchyard.cli.table import print_table
from switchyard.ledger.actor import actor
from switchyard.ledger.queries import query
from switchyard.schedules.apply import apply_schedules
from switchyard.schedules.rows import times_of, upcoming, words

SHOWN = 5


def schedules() -> None:
    """Show and change schedules: what is submitted at which times.

    Example: switchyard schedules list
    """


def apply(
    config: ConfigFile = None,
    prune: Annotated[bool, typer.Option(help="Remove schedules that the file does not have.")] = False,
    who: Actor = None,
    as_json: AsJson = False,
) -> None:
    """Apply the schedules of the configuration; unchanged schedules are left alone.

    Example: switchyard schedules apply --prune
    """
    settings = whole_config(config)
    by = who or actor()
    with connected(settings) as connection, connection.transaction():
        applied = apply_schedules(connection, settings, by)
        for name in applied.others if prune else ():
            values = {"name": name, "actor": by, "reason": "not in the configuration"}
            connection.execute(query("schedules", "remove"), values)
    if as_json:
        removed = applied.others if prune else []
        print_json({"changed": applied.changed, "unchanged": applied.unchanged, "removed": removed})
        return
    print(f"{len(applied.changed)} changed, {len(applied.unchanged)} unchanged.")
    if applied.others:
        named = ", ".join(applied.others)
        print(printable(f"Removed: {named}" if prune else f"Not in the file (--prune removes them): {named}"))


def list_(config: ConfigFile = None, as_json: AsJson = False) -> None:
    """List the schedules: what each submits, when, its next tick and its last results.

    Example: switchyard schedules list
    """
    with connected(configured(config)) as connection:
        rows = connection.execute(query("schedules", "all")).fetchall()
    if as_json:
        print_json(rows)
    else:
        print_schedules([{**row, "when": words(times_of(row))} for row in rows])


def show(name: Name, config: ConfigFile = None, as_json: AsJson = False) -> None:
    """Show one schedule in words, with its next five times and its last ticks.

    Example: switchyard schedules show nightly
    """
    with connected(configured(config)) as connection:
        row = schedule_row(connection, name)
        ticks = connection.execute(query("schedules", "ticks"), {"name": name, "limit": SHOWN}).fetchall()
    coming = upcoming(times_of(row), row["next_at"], SHOWN) if row["next_at"] else []
    if as_json:
        print_json({**row, "next_times": coming, "last_ticks": ticks})
    else:
        print_schedule({**row, "when": words(times_of(row))}, coming, ticks)


def print_schedules(rows: list[dict[str, Any]]) -> None:
    """Print schedules, each with `when` it fires in words."""
    for row in rows:
        row["what"] = row["workflow"] or row["action_name"]
        row["state"] = _state(row)
    fields = "name what when next_at=next last_at=last state open queued fired skipped missed"
    print_table(
        rows, fields, "There are no schedules: add them to the configuration, then `schedules apply`."
    )


def print_schedule(row: dict[str, Any], coming: list[datetime], ticks: list[dict[str, Any]]) -> None:
    """Print one schedule, its next times and its last ticks."""
    for line in _described(row):
        print(printable(line))
    print("\nNext times:" if coming else "\nThere are no more ticks.")
    for time in coming:
        print(f"  {time.astimezone(ZoneInfo(row['timezone'])):%a %Y-%m-%d %H:%M:%S %Z}")
    print()
    print_table(ticks, "tick_at=tick outcome action_uuid=action status", "No tick so far.")


def _state(row: dict[str, Any]) -> str:
    if row["paused_at"]:
        return "paused"
    return "active" if row["next_at"] else "over"


def _described(row: dict[str, Any]) -> list[str]:
    overlap = {
        "skip": "is skipped",
        "allow": "runs beside it",
        "queue": "waits for it",
        "replace": "cancels it",
    }
    what = f"workflow {row['workflow']}" if row["workflow"] else f"action {row['action_name']}"
    lines = [
        f"{row['name']}: {what}",
        f"{row['when']}, revision {row['revision']}",
        f"A tick during the previous action {overlap[row['overlap']]}; catch_up: {row['catch_up']}.",
        f"{row['fired']} fired, {row['skipped']} skipped, {row['missed']} missed, "
        f"{row['queued']} queued, {row['open']} open.",
    ]
    if row["paused_at"]:
        lines.append(f"Paused by {row['paused_by']} at {as_text(row['paused_at'])}: {row['paused_because']}")
    return lines


VERBS = {
    "apply": apply,
    "list": list_,
    "show": show,
    "trigger": trigger,
    "pause": pause,
    "resume": resume,
    "backfill": backfill,
}
