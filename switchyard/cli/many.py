"""A decision about many actions: choose them by id or filter, show them, ask, apply in groups with progress.

Each group is one statement and one transaction, so Ctrl-C leaves whole groups done and the rest untouched;
the same command continues. A group that the database refuses because of one action is halved until only that
action is refused: the others do not wait for it.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID

import psycopg
import typer
from rich.console import Console
from rich.progress import Progress

from switchyard.cli.causes import Pace, with_whole_cause
from switchyard.cli.database import Rows
from switchyard.cli.filters import Filter
from switchyard.cli.ids import identified
from switchyard.cli.output import print_json, printable
from switchyard.cli.table import print_table
from switchyard.errors import BadInput
from switchyard.ledger.actor import actor
from switchyard.ledger.queries import query
from switchyard.process.exit import Exit

MOST = 1_000_000
GROUP = 1_000  # its rows stay locked until it is written: about half a second
INTERRUPTED = 130
SAMPLE = 20
FIELDS = "action_uuid=action action_name=name workflow status run idempotency_key=key error"


class Decision(NamedTuple):
    """A decision: its query, the statuses that it applies to, and the words for its results."""

    verb: str
    statuses: tuple[str, ...]
    done: str
    late: str = ""
    values: Mapping[str, str] = {}


@dataclass
class Tally:
    """The results so far."""

    results: list[dict[str, Any]] = field(default_factory=list)
    interrupted: bool = False
    returned: dict[str, Any] | None = None


def decide(
    connection: Rows,
    decision: Decision,
    uuids: list[str] | None,
    chosen: Filter,
    *,
    who: str | None,
    reason: str,
    dry_run: bool,
    yes: bool,
    as_json: bool,
    rate: float | None = None,
) -> None:
    """Apply the decision to the given actions or to those that the filter matches."""
    found = _chosen(connection, decision, uuids, with_whole_cause(connection, chosen))
    if not _agreed(connection, decision, found, dry_run, yes or bool(uuids), as_json):
        return
    pace = None if rate is None else Pace(connection, rate, GROUP)
    values = {"actor": who or actor(), "reason": reason, **decision.values}
    tally = _apply(connection, decision, found, values, pace)
    _report(decision, tally, len(found), as_json)


def _chosen(connection: Rows, decision: Decision, uuids: list[str] | None, chosen: Filter) -> list[UUID]:
    if uuids:
        if not chosen.empty:
            raise BadInput("give ids or filters, not both")
        return [_known(connection, identified(connection, given)) for given in uuids]
    if chosen.empty:
        raise BadInput("name actions, or choose them by --name, --workflow, --status, --since, …")
    values = chosen.values(MOST + 1, decision.statuses)
    rows = connection.execute(query("look", "chosen"), values).fetchall()
    if len(rows) > MOST:
        raise BadInput(f"more than {MOST:,} actions: choose fewer")
    return [row["action_uuid"] for row in rows]


def _known(connection: Rows, uuid: UUID) -> UUID:
    if connection.execute(query("look", "action"), {"uuid": uuid}).fetchone() is None:
        raise BadInput(f"there is no action {uuid}")
    return uuid


def _agreed(
    connection: Rows, decision: Decision, uuids: list[UUID], dry_run: bool, sure: bool, as_json: bool
) -> bool:
    """Show the chosen actions, and ask for confirmation if a filter chose them."""
    if not as_json and (dry_run or not sure):
        sample = connection.execute(query("look", "sample"), {"uuids": uuids[:SAMPLE]}).fetchall()
        print_table(sample, FIELDS, f"Nothing to {decision.verb}.")
        if len(uuids) > SAMPLE:
            print(f"… and {len(uuids) - SAMPLE:,} more.")
    if dry_run:
        if as_json:
            print_json(uuids)
        else:
            print(f"{len(uuids):,} would be {decision.done}; nothing was done.")
        return False
    if not uuids or sure:
        return bool(uuids)
    if not sys.stdin.isatty():
        raise BadInput(f"{len(uuids):,} actions: give --yes to {decision.verb} them without being asked")
    return typer.confirm(f"{decision.verb.capitalize()} {len(uuids):,} actions?")


def _apply(
    connection: Rows, decision: Decision, uuids: Sequence[UUID], values: dict[str, str], pace: Pace | None
) -> Tally:
    tally = Tally()
    groups = pace.groups(uuids) if pace else _groups(uuids)
    console = Console(stderr=True)
    hidden = not console.is_terminal or (pace is None and len(uuids) <= GROUP)
    with Progress(console=console, disable=hidden) as progress:
        task = progress.add_task(decision.verb, total=len(uuids))
        try:
            for group in groups:
                tally.results += _group(connection, decision.verb, group, values)
                progress.advance(task, len(group))
        except KeyboardInterrupt:
            tally.interrupted = True
    tally.returned = pace.returned if pace else None
    return tally


def _groups(uuids: Sequence[UUID]) -> Iterator[list[UUID]]:
    for start in range(0, len(uuids), GROUP):
        yield sorted(uuids[start : start + GROUP])


def _group(
    connection: Rows, verb: str, group: Sequence[UUID], values: dict[str, str]
) -> Iterator[dict[str, Any]]:
    try:
        yield from connection.execute(
            query("decide", verb.replace(" ", "_")), {**values, "uuids": list(group)}
        ).fetchall()
    except (psycopg.errors.ObjectNotInPrerequisiteState, psycopg.errors.NoDataFound) as error:
        if len(group) == 1:
            yield {"action_uuid": group[0], "error": error.diag.message_primary}
            return
        half = len(group) // 2
        yield from _group(connection, verb, group[:half], values)
        yield from _group(connection, verb, group[half:], values)


def _report(decision: Decision, tally: Tally, wanted: int, as_json: bool) -> None:
    refused = [result for result in tally.results if "error" in result]
    if as_json:
        print_json(tally.results)
    else:
        done = sum(bool(result.get("result")) for result in tally.results)
        late = len(tally.results) - done - len(refused)
        unchanged = f" {late:,} {decision.late}," if decision.late else ""
        print(f"{done:,} {decision.done},{unchanged} {len(refused):,} refused.")
        for result in refused[:SAMPLE]:
            print(f"  {printable(result['error'])}")
    left = wanted - len(tally.results)
    if tally.returned is not None:
        cause, uuid = printable(tally.returned["cause"]), tally.returned["action_uuid"]
        print(f"Stopped: the cause returned with action {uuid}: {cause}", file=sys.stderr)
        print(f"{left:,} actions are unchanged.", file=sys.stderr)
        raise typer.Exit(Exit.FAILURE)
    if tally.interrupted:
        print(f"Interrupted: {left:,} actions are unchanged. The same command continues.", file=sys.stderr)
        raise typer.Exit(INTERRUPTED)
    if refused:
        raise typer.Exit(Exit.FAILURE)
