"""`switchyard show`: one action with its state, its steps and all that followed from it."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from rich.console import Group
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from switchyard.cli.database import Rows, config_or_default, connected
from switchyard.cli.exchanges import exchange_texts, exchanges_of
from switchyard.cli.filters import identifier
from switchyard.cli.options import AsJson, ConfigFile
from switchyard.cli.output import STYLES, cell, console, print_json, printable, table_of
from switchyard.errors import BadInput, SwitchyardError
from switchyard.ledger.queries import query
from switchyard.places import Places
from switchyard.store import open_store

MOST_RELATIVES = 1000


def show(uuid: str, config: ConfigFile = None, as_json: AsJson = False) -> None:
    """Show one action: what was asked, where it stands, steps, callbacks as a tree, exchanges, files.

    Example: switchyard show 0197a0f3-8c1e-7a3b-9d2e-1f4c5b6a7d8e
    """
    with connected(config) as connection:
        found = collect(connection, identifier(uuid))
    store = config_or_default(config).store
    found["files"] = files_of(found["action"], store)
    found["exchanges"] = exchanges_of(found["events"], store)
    if as_json:
        print_json(found)
    else:
        console().print(
            Group(
                *(_facts(found), "", _steps(found["events"]), "", _family(found["family"])),
                *exchange_texts(found["exchanges"]),
                *_files(found),
            )
        )


def collect(connection: Rows, uuid: UUID) -> dict[str, Any]:
    """The action, its events and its family."""
    actions = connection.execute(query("look", "action"), {"uuid": uuid}).fetchall()
    if not actions:
        raise BadInput(f"there is no action {uuid}; retention may have dropped it")
    return {
        "action": actions[0],
        "events": connection.execute(query("look", "events"), {"uuid": uuid}).fetchall(),
        "family": connection.execute(
            query("look", "family"), {"uuid": uuid, "limit": MOST_RELATIVES}
        ).fetchall(),
    }


def files_of(action: Mapping[str, Any], store_url: str) -> list[str]:
    """Where its files are in the object store; none where the store cannot be read from here."""
    try:
        store = open_store(store_url)
        kinds = ("executions", "callbacks")
        prefixes = [
            Places(action["action_uuid"], action["run"], kind).folder.rsplit("/", 1)[0] for kind in kinds
        ]
        return [store.url_of(key) for prefix in prefixes for key in store.list(f"{prefix}/")]
    except (SwitchyardError, OSError):
        return []


def _facts(found: Mapping[str, Any]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    labels = {
        "action_uuid": "action",
        "action_name": "name",
        "workflow": "workflow",
        "callback": "callback",
        "parent_uuid": "parent",
        "correlation_id": "correlation id",
        "idempotency_key": "key",
        "priority": "priority",
        "status": "status",
        "run": "run",
        "attempt": "attempt",
        "created_at": "submitted",
        "start_after": "not before",
        "started_at": "started",
        "ended_at": "ended",
        "next_attempt_after": "next attempt",
        "error": "error",
        "note": "note",
        "parameters": "parameters",
    }
    for field, label in labels.items():
        if found["action"][field] not in (None, {}):
            table.add_row(Text(label, style="dim"), cell(found["action"][field]))
    return table


def _steps(events: list[dict[str, Any]]) -> Table | str:
    if not events:
        return "No events yet: it waits to be claimed."
    columns = {
        "event_time": "time",
        "status": "status",
        "run": "run",
        "attempt": "attempt",
        "source": "source",
        "error": "what was said",
    }
    shown = [dict(event, error=_said(event)) for event in events]
    return table_of(shown, columns)


def _said(event: Mapping[str, Any]) -> str:
    detail = event["detail"] or {}
    said = [event["error"] or detail.get("note") or ""]
    if "progress" in detail:
        said.append(f"{float(detail['progress']):.0%} {detail.get('step', '')}".strip())
    if event["retry_seconds"] is not None:
        said.append(f"again in {event['retry_seconds']:.1f} s")
    if event["ignored"]:
        said.append("(ignored: it came too late or twice)")
    return " ".join(part for part in said if part)


def _family(family: list[dict[str, Any]]) -> Tree:
    branches: dict[UUID, Tree] = {}
    root = Tree("")
    for member in family:
        parent = branches.get(member["parent_uuid"], root)
        branches[member["action_uuid"]] = parent.add(_leaf(member))
    top = branches[family[0]["action_uuid"]]
    if len(family) == MOST_RELATIVES:
        top.add(Text(f"… the first {MOST_RELATIVES}", style="dim"))
    return top


def _leaf(member: Mapping[str, Any]) -> Text:
    what = member["callback"] or member["workflow"] or member["action_name"]
    text = Text.assemble(
        (member["status"], STYLES.get(member["status"], "")),
        f"  {what}  ",
        (str(member["action_uuid"]), "dim"),
    )
    if member["error"]:
        text.append(f"  {printable(member['error'])[:120]}", style="red")
    return text


def _files(found: Mapping[str, Any]) -> list[str]:
    return ["", "files", *(f"  {url}" for url in found["files"])] if found["files"] else []
