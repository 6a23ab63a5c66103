"""`switchyard list`, `events`, `inbox`, `workers`: what is there, in tables or JSON."""

from typing import Annotated

import typer

from switchyard.cli import filters
from switchyard.cli.database import connected
from switchyard.cli.options import AsJson, ConfigFile
from switchyard.cli.output import print_json, print_rows
from switchyard.errors import BadInput
from switchyard.ledger.queries import query

Limit = Annotated[int, typer.Option("--limit", "-n", min=1, max=100_000, help="At most so many rows.")]


def list_(
    config: ConfigFile = None,
    name: filters.Name = None,
    workflow: filters.WorkflowName = None,
    status: filters.StatusNames = None,
    correlation_id: filters.CorrelationId = None,
    since: filters.Since = None,
    until: filters.Until = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List actions, the newest first.

    Example: switchyard list --workflow nutrient --status failed --since 2d
    """
    chosen = filters.chosen(name, workflow, status, correlation_id, since, until)
    with connected(config) as connection:
        rows = connection.execute(query("look", "list"), chosen.values(limit)).fetchall()
    if as_json:
        print_json(rows)
        return
    columns = {
        "action_uuid": "action",
        "created_at": "submitted",
        "action_name": "name",
        "workflow": "workflow",
        "status": "status",
        "run": "run",
        "attempt": "attempt",
        "error": "error",
    }
    print_rows(rows, columns, "No such actions.")
    if len(rows) == limit:
        print(f"The newest {limit}; more with --limit.")


def events(uuid: str, config: ConfigFile = None, as_json: AsJson = False) -> None:
    """Every step of one action, in the order in which they came.

    Example: switchyard events 0197a0f3-8c1e-7a3b-9d2e-1f4c5b6a7d8e
    """
    with connected(config) as connection:
        action = filters.identifier(uuid)
        if not connection.execute(query("look", "action"), {"uuid": action}).fetchall():
            raise BadInput(f"there is no action {action}")
        rows = connection.execute(query("look", "events"), {"uuid": action}).fetchall()
    if as_json:
        print_json(rows)
        return
    columns = {
        "event_time": "time",
        "status": "status",
        "run": "run",
        "attempt": "attempt",
        "source": "source",
        "ignored": "ignored",
        "error": "error",
        "detail": "detail",
    }
    for row in rows:
        row["ignored"] = "ignored" if row["ignored"] else None
    print_rows(rows, columns, "No events yet: it waits to be claimed.")


def inbox(config: ConfigFile = None, limit: Limit = 100, as_json: AsJson = False) -> None:
    """What waits for a person: failed actions, lost workers, messages that nobody could read.

    Example: switchyard inbox --json
    """
    with connected(config) as connection:
        rows = connection.execute(query("look", "inbox"), {"limit": limit}).fetchall()
    if as_json:
        print_json(rows)
        return
    for row in rows:
        row["what"] = row["action_uuid"] or f"{row['kind']} {row['entry_id']}"
    columns = {
        "since": "since",
        "what": "what",
        "subject": "name",
        "status": "status",
        "run": "run",
        "error": "error",
        "note": "note",
    }
    print_rows(rows, columns, "The inbox is empty.")


def workers(
    config: ConfigFile = None,
    everything: Annotated[bool, typer.Option("--all", help="Those that ended too.")] = False,
    as_json: AsJson = False,
) -> None:
    """The workers of all programs: what they do, how fast, and which are lost.

    Example: switchyard workers --all
    """
    with connected(config) as connection:
        rows = connection.execute(query("look", "fleet"), {"all": everything}).fetchall()
        paused = connection.execute(query("look", "paused")).fetchall()
    if as_json:
        print_json({"workers": rows, "paused": paused})
        return
    columns = {
        "worker_id": "worker",
        "kind": "kind",
        "action_name": "name",
        "host": "host",
        "zone": "zone",
        "state": "state",
        "started_at": "started",
        "beat_at": "last beat",
        "done": "done",
        "failed": "failed",
        "rate": "per second",
        "detail": "detail",
    }
    for row in rows:
        row["detail"] = " ".join(f"{key}={value}" for key, value in (row["detail"] or {}).items())
    print_rows(rows, columns, "No workers.")
    for name in paused:
        print(f"\n{name['action_name']} is paused by {name['actor']}: {name['reason']}")
    if len({row["config_hash"] for row in rows if row["state"] == "running" and row["config_hash"]}) > 1:
        print(
            "\nThe running workers do not share one configuration: compare the output of `switchyard check`."
        )
