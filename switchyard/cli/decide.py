"""`switchyard retrigger`, `cancel`, `pause`, `resume`, `dismiss`: decisions, each with who and why."""

import sys
from collections.abc import Callable, Mapping
from typing import Annotated, Any
from uuid import UUID

import psycopg
import typer

from switchyard.cli import filters
from switchyard.cli.database import Rows, actor, connected
from switchyard.cli.options import AsJson, ConfigFile
from switchyard.cli.output import print_json, print_rows
from switchyard.errors import BadInput
from switchyard.ledger.queries import query
from switchyard.process.exit import Exit
from switchyard.status import ENDS, Status

Uuids = Annotated[
    list[str] | None,
    typer.Argument(metavar="ACTION", help="Ids of actions; or choose by filters.", show_default=False),
]
Reason = Annotated[
    str, typer.Option("--reason", "-m", help="Why; it is kept with the action.", prompt="Why?")
]
Actor = Annotated[str | None, typer.Option("--actor", help="Who; by default user@host.", show_default=False)]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be done, and do nothing.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]

MOST = 100_000
RETRIGGERABLE = tuple(sorted(ENDS - {Status.SUCCESSFUL}))
CANCELABLE = tuple(sorted(set(Status) - ENDS - {Status.INFO}))


def _decision(verb: str, possible: tuple[str, ...], help_text: str) -> Callable[..., None]:
    """A command that decides about actions, named or chosen by filters."""

    def command(
        uuids: Uuids = None,
        *,
        reason: Reason,
        config: ConfigFile = None,
        name: filters.Name = None,
        workflow: filters.WorkflowName = None,
        status: filters.StatusNames = None,
        correlation_id: filters.CorrelationId = None,
        since: filters.Since = None,
        until: filters.Until = None,
        who: Actor = None,
        dry_run: DryRun = False,
        yes: Yes = False,
        as_json: AsJson = False,
    ) -> None:
        chosen = filters.chosen(name, workflow, status, correlation_id, since, until)
        with connected(config) as connection:
            rows = _chosen(connection, uuids, chosen, possible)
            if _agreed(verb, rows, dry_run, yes or bool(uuids), as_json):
                _decide(connection, verb, rows, who, reason, as_json)

    command.__doc__ = help_text
    return command


retrigger = _decision(
    "retrigger",
    RETRIGGERABLE,
    """Run actions again that ended without success, each as a new run.

    Example: switchyard retrigger --name webhook --status failed --since 1d -m "partner is back" --dry-run
    """,
)
cancel = _decision(
    "cancel",
    CANCELABLE,
    """End actions that have not ended; what runs at a backend is stopped there.

    Example: switchyard cancel 0197a0f3-8c1e-7a3b-9d2e-1f4c5b6a7d8e --reason "wrong input"
    """,
)


def pause(name: str, *, reason: Reason, config: ConfigFile = None, who: Actor = None) -> None:
    """Claim nothing more of an action name until it is resumed; what is in flight goes on.

    Example: switchyard pause webhook --reason "partner is down"
    """
    done = _one(config, "pause", {"name": name, "actor": who or actor(), "reason": reason})
    print(f"{name} is paused." if done else f"{name} was paused already.")


def resume(name: str, *, reason: Reason, config: ConfigFile = None, who: Actor = None) -> None:
    """Claim an action name again.

    Example: switchyard resume webhook --reason "partner is back"
    """
    done = _one(config, "resume", {"name": name, "actor": who or actor(), "reason": reason})
    print(f"{name} goes on." if done else f"{name} was not paused.")


def dismiss(
    entries: Annotated[
        list[int],
        typer.Argument(metavar="ENTRY...", help="Numbers that the inbox shows.", min=1, max=2**63 - 1),
    ],
    *,
    reason: Reason,
    config: ConfigFile = None,
    who: Actor = None,
) -> None:
    """Take entries that belong to no action out of the inbox: lost workers, unreadable messages.

    Example: switchyard dismiss 17 18 --reason "the host was taken down"
    """
    for entry in entries:
        done = _one(config, "dismiss", {"entry": entry, "actor": who or actor(), "reason": reason})
        print(f"{entry} is out of the inbox." if done else f"{entry} was not in the inbox.")


def _one(config: ConfigFile, decision: str, values: Mapping[str, object]) -> bool:
    with connected(config) as connection:
        row = connection.execute(query("decide", decision), values).fetchone()
    return bool(row and next(iter(row.values())))


def _chosen(
    connection: Rows, uuids: list[str] | None, chosen: filters.Filter, possible: tuple[str, ...]
) -> list[dict[str, Any]]:
    """The rows that were named, or those that the filter leaves and that the decision can apply to."""
    if uuids:
        if not chosen.empty:
            raise BadInput("give ids or filters, not both")
        return [_named(connection, filters.identifier(uuid)) for uuid in uuids]
    if chosen.empty:
        raise BadInput("name actions, or choose them by --name, --workflow, --status, --since, …")
    values = chosen.values(MOST + 1)
    values["statuses"] = [s for s in chosen.statuses or possible if s in possible]
    rows = connection.execute(query("look", "list"), values).fetchall()
    if len(rows) > MOST:
        raise BadInput(f"more than {MOST:,} actions: choose fewer")
    return rows


def _named(connection: Rows, uuid: UUID) -> dict[str, Any]:
    found = connection.execute(query("look", "action"), {"uuid": uuid}).fetchone()
    if found is None:
        raise BadInput(f"there is no action {uuid}")
    return found


def _agreed(verb: str, rows: list[dict[str, Any]], dry_run: bool, sure: bool, as_json: bool) -> bool:
    """Show what was chosen, and ask where it was chosen by a filter."""
    if not as_json and (dry_run or not sure):
        columns = {
            "action_uuid": "action",
            "action_name": "name",
            "workflow": "workflow",
            "status": "status",
            "run": "run",
            "error": "error",
        }
        print_rows(rows[:20], columns, f"Nothing to {verb}.")
        if len(rows) > 20:
            print(f"… and {len(rows) - 20:,} more.")
    if dry_run:
        if as_json:
            print_json([row["action_uuid"] for row in rows])
        else:
            print(f"{len(rows):,} would be {verb}ed; nothing was done.")
        return False
    if not rows or sure:
        return bool(rows)
    if not sys.stdin.isatty():
        raise BadInput(f"{len(rows):,} actions: say --yes to {verb} them without being asked")
    return typer.confirm(f"{verb.capitalize()} {len(rows):,} actions?")


def _decide(
    connection: Rows, verb: str, rows: list[dict[str, Any]], who: str | None, reason: str, as_json: bool
) -> None:
    """One by one, each in its own transaction: one that moved meanwhile does not hold up the others."""
    results: list[dict[str, Any]] = []
    for row in rows:
        values = {"uuid": row["action_uuid"], "actor": who or actor(), "reason": reason}
        try:
            answer = connection.execute(query("decide", verb), values).fetchone()
            results.append(
                {"action_uuid": row["action_uuid"], "result": answer and next(iter(answer.values()))}
            )
        except (psycopg.errors.ObjectNotInPrerequisiteState, psycopg.errors.NoDataFound) as error:
            results.append({"action_uuid": row["action_uuid"], "error": error.diag.message_primary})
    _report(verb, results, as_json)


def _report(verb: str, results: list[dict[str, Any]], as_json: bool) -> None:
    refused = [result for result in results if "error" in result]
    if as_json:
        print_json(results)
    else:
        done = sum(bool(result.get("result")) for result in results)
        late = len(results) - done - len(refused)
        print(f"{done:,} {verb}ed, {late:,} had ended already, {len(refused):,} refused.")
        for result in refused[:20]:
            print(f"  {result['error']}")
    if refused:
        raise typer.Exit(Exit.FAILURE)
