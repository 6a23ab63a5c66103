"""Decisions about one schedule: trigger, pause, resume, backfill."""

from datetime import datetime
from itertools import islice, takewhile
from typing import Annotated, Any

import typer

from switchyard.cli.complete import schedule_names
from switchyard.cli.database import Rows, configured, connected
from switchyard.cli.filters import moment
from switchyard.cli.options import Actor, AsJson, ConfigFile, Reason, Yes
from switchyard.cli.output import print_json, printable
from switchyard.errors import BadInput
from switchyard.ledger.actor import actor
from switchyard.ledger.queries import query
from switchyard.schedules.due import MOST_FIRED
from switchyard.schedules.rows import times_of

Name = Annotated[str, typer.Argument(help="The schedule.", autocompletion=schedule_names)]
MOST_BACKFILLED = 100_000


def trigger(
    name: Name, *, reason: Reason, config: ConfigFile = None, who: Actor = None, as_json: AsJson = False
) -> None:
    """Submit the action of a schedule now, regardless of its times and overlap policy.

    Example: switchyard schedules trigger nightly --reason "the data came late"
    """
    uuid = _decided(config, "trigger", name, who, reason)["action_uuid"]
    print_triggered(uuid, as_json)


def pause(
    name: Name, *, reason: Reason, config: ConfigFile = None, who: Actor = None, as_json: AsJson = False
) -> None:
    """Pause a schedule: no ticks fire until it is resumed.

    Example: switchyard schedules pause nightly --reason "the archive is being moved"
    """
    changed = _decided(config, "pause", name, who, reason)["changed"]
    print_switched(name, paused=True, changed=changed, as_json=as_json)


def resume(
    name: Name, *, reason: Reason, config: ConfigFile = None, who: Actor = None, as_json: AsJson = False
) -> None:
    """Resume a schedule from its next tick on; ticks during the pause do not count as missed.

    Example: switchyard schedules resume nightly --reason "the archive is back"
    """
    with connected(configured(config)) as connection:
        row = schedule_row(connection, name)
        values = {
            "name": name,
            "revision": row["revision"],
            "next_at": times_of(row).after(_now(connection)),
            "actor": who or actor(),
            "reason": reason,
        }
        changed = _fetched(connection, "resume", values)["changed"]
    print_switched(name, paused=False, changed=changed, as_json=as_json)


def backfill(
    name: Name,
    *,
    since: Annotated[str, typer.Option("--from", metavar="TIME", help="The first time, like 2026-01-31.")],
    until: Annotated[str, typer.Option("--to", metavar="TIME", help="Up to, not including, this time.")],
    reason: Reason,
    config: ConfigFile = None,
    who: Actor = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Submit the actions of the ticks between two times that did not fire, all in parallel.

    Example: switchyard schedules backfill nightly --from 2026-01-01 --to 2026-02-01 --reason "new archive"
    """
    first, last = moment("--from", since), moment("--to", until)
    assert first is not None
    assert last is not None
    with connected(configured(config)) as connection:
        row = schedule_row(connection, name)
        bound = min(last, _now(connection))
        found = takewhile(lambda tick: tick < bound, times_of(row).since(first))
        ticks = list(islice(found, MOST_BACKFILLED + 1))
        if len(ticks) > MOST_BACKFILLED:
            raise BadInput(f"--to: more than {MOST_BACKFILLED:,} ticks: choose a shorter time")
        if ticks and not yes:
            typer.confirm(f"Submit the actions of {len(ticks):,} ticks, where they did not fire?", abort=True)
        submitted = _backfilled(connection, ticks, name, who or actor(), reason)
    if as_json:
        print_json({"name": name, "ticks": len(ticks), "submitted": submitted})
    else:
        print(f"{len(ticks):,} ticks, {submitted:,} submitted; the others had fired.")


def print_triggered(uuid: Any, as_json: bool) -> None:
    """Print the action that was submitted."""
    print_json({"action_uuid": uuid}) if as_json else print(uuid)


def print_switched(name: str, *, paused: bool, changed: bool, as_json: bool) -> None:
    """Print what became of a pause or its end."""
    done, already = ("is paused", "was paused already") if paused else ("is resumed", "was not paused")
    if as_json:
        print_json({"name": name, "paused": paused, "changed": changed})
    else:
        print(printable(f"{name} {done if changed else already}."))


def no_such_schedule(name: str) -> BadInput:
    """The error for a name that no schedule has."""
    return BadInput(f"there is no schedule {name!r}: `switchyard schedules list` shows them")


def _backfilled(connection: Rows, ticks: list[datetime], name: str, who: str, reason: str) -> int:
    values = {"name": name, "actor": who, "reason": reason}
    parts = [ticks[start : start + MOST_FIRED] for start in range(0, len(ticks), MOST_FIRED)]
    return sum(_fetched(connection, "backfill", {**values, "ticks": part})["submitted"] for part in parts)


def _decided(config: ConfigFile, decision: str, name: str, who: str | None, reason: str) -> dict[str, Any]:
    with connected(configured(config)) as connection:
        schedule_row(connection, name)
        return _fetched(connection, decision, {"name": name, "actor": who or actor(), "reason": reason})


def _fetched(connection: Rows, decision: str, values: dict[str, Any]) -> dict[str, Any]:
    row = connection.execute(query("schedules", decision), values).fetchone()
    assert row is not None
    return row


def schedule_row(connection: Rows, name: str) -> dict[str, Any]:
    row = connection.execute(query("schedules", "one"), {"name": name}).fetchone()
    if row is None:
        raise no_such_schedule(name)
    return row


def _now(connection: Rows) -> datetime:
    found: datetime = _fetched(connection, "now", {})["now"]
    return found
