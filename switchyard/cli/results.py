"""`switchyard results`: list, forget."""

import sys
from typing import Annotated, Any

import typer

from switchyard.cli.complete import workflows
from switchyard.cli.database import Rows, configured, connected
from switchyard.cli.filters import moment
from switchyard.cli.ids import identified
from switchyard.cli.options import Actor, AsJson, ConfigFile, DryRun, Limit, Reason, Yes
from switchyard.cli.output import print_json
from switchyard.cli.table import print_table
from switchyard.errors import BadInput
from switchyard.ledger.actor import actor
from switchyard.ledger.queries import query

FIELDS = "action_uuid=action workflow version lane found=key status ended_at=ended fresh_until waiting"

Workflow = Annotated[
    str | None,
    typer.Option(
        "--workflow", "-w", help="Only of this workflow.", show_default=False, autocompletion=workflows
    ),
]
Version = Annotated[str | None, typer.Option("--version", help="Only of this version.", show_default=False)]
Action = Annotated[
    str | None,
    typer.Option(
        "--action", help="Only the result of this action, or the one that it reused.", show_default=False
    ),
]
Before = Annotated[
    str | None,
    typer.Option("--before", help="Only results from before a time, or an age like 2h.", show_default=False),
]


def results() -> None:
    """Show and forget the results that are reused.

    Example: switchyard results list
    """


def list_(
    config: ConfigFile = None, workflow: Workflow = None, limit: Limit = 50, as_json: AsJson = False
) -> None:
    """List the results that may be reused and those that are being computed, the newest first.

    Example: switchyard results list --workflow ndvi
    """
    with connected(configured(config)) as connection:
        rows = connection.execute(query("results", "list"), {"workflow": workflow, "limit": limit}).fetchall()
    if as_json:
        print_json(rows)
        return
    print_table(rows, FIELDS, "No results are reused: no workflow with `reuse` has run.")


def forget(
    reason: Reason,
    config: ConfigFile = None,
    workflow: Workflow = None,
    version: Version = None,
    action: Action = None,
    before: Before = None,
    who: Actor = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Forget results: they are no longer reused, and actions that wait for one of them compute it again.

    Example: switchyard results forget -w ndvi --version 7 -m "wrong bands"
    """
    if workflow is None and version is None and action is None and before is None:
        raise BadInput("choose results by --workflow, --version, --action or --before")
    values: dict[str, Any] = {
        "actor": who or actor(),
        "reason": reason,
        "workflow": workflow,
        "version": version,
        "before": moment("--before", before),
    }
    with connected(configured(config)) as connection:
        values["action"] = None if action is None else identified(connection, action)
        if not (dry_run or yes or action):
            _confirm(_forgotten(connection, values, dry_run=True))
        number = _forgotten(connection, values, dry_run=dry_run)
    if as_json:
        print_json({"forgotten": number, "dry_run": dry_run})
    else:
        print(f"{number:,} would be forgotten; nothing was done." if dry_run else f"{number:,} forgotten.")


def _forgotten(connection: Rows, values: dict[str, Any], *, dry_run: bool) -> int:
    row = connection.execute(query("results", "forget"), {**values, "dry_run": dry_run}).fetchone()
    assert row is not None
    return int(row["forgotten"])


def _confirm(number: int) -> None:
    if number == 0:
        return
    if not sys.stdin.isatty():
        raise BadInput(f"{number:,} results: give --yes to forget them without being asked")
    typer.confirm(f"Forget {number:,} results?", abort=True)


VERBS = {"list": list_, "forget": forget}
