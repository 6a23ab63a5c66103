"""`switchyard show`."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from switchyard.cli.database import Rows, configured, connected
from switchyard.cli.exchanges import exchange_texts, exchanges_of
from switchyard.cli.ids import identified
from switchyard.cli.members import members_of, print_members
from switchyard.cli.options import ActionId, AsJson, ConfigFile
from switchyard.cli.output import STYLES, cell, console, print_json, printable
from switchyard.cli.table import print_table
from switchyard.errors import BadInput, SwitchyardError
from switchyard.ledger.queries import query
from switchyard.places import Places
from switchyard.store import open_store

MOST_RELATIVES = 1000
LABELS = {
    "action_uuid": "action",
    "action_name": "name",
    "workflow": "workflow",
    "callback": "callback",
    "parent_uuid": "parent",
    "correlation_id": "correlation id",
    "idempotency_key": "key",
    "priority": "priority",
    "lane": "lane",
    "tags": "tags",
    "submitted_by": "submitted by",
    "status": "status",
    "run": "run",
    "attempt": "attempt",
    "created_at": "submitted",
    "start_after": "not before",
    "after": "after",
    "member_of": "member of",
    "node": "node",
    "started_at": "started",
    "ended_at": "ended",
    "next_attempt_after": "next attempt",
    "reused": "reused",
    "error": "error",
    "note": "note",
    "parameters": "parameters",
}


def show(action: ActionId, config: ConfigFile = None, as_json: AsJson = False) -> None:
    """Show one action: its request, state, events, members, callbacks as a tree, HTTP exchanges and files.

    Example: switchyard show 0197a0f3-8c1e-7a3b-9d2e-1f4c5b6a7d8e
    """
    settings = configured(config)
    with connected(settings) as connection:
        found = collect(connection, identified(connection, action))
    found["files"] = files_of(found["action"], settings.store)
    found["exchanges"] = exchanges_of(found["events"], settings.store)
    if as_json:
        print_json(found)
        return
    screen = console()
    screen.print(_facts(found["action"]), "")
    _print_events(found["events"])
    if found["set"] is not None:
        print()
        print_members(found["set"])
    screen.print(
        "", _family(found["family"]), *exchange_texts(found["exchanges"]), *_files(found["files"]), sep="\n"
    )


def collect(connection: Rows, uuid: UUID) -> dict[str, Any]:
    """The action, its events, its members and its family."""
    actions = connection.execute(query("look", "action"), {"uuid": uuid}).fetchall()
    if not actions:
        raise BadInput(f"there is no action {uuid}; retention may have dropped it")
    return {
        "action": actions[0],
        "events": connection.execute(query("look", "events"), {"uuid": uuid}).fetchall(),
        "set": members_of(connection, uuid),
        "family": connection.execute(
            query("look", "family"), {"uuid": uuid, "limit": MOST_RELATIVES}
        ).fetchall(),
    }


def files_of(action: Mapping[str, Any], store_url: str) -> list[str]:
    """Where its files are in the object store; none where the store cannot be read from here."""
    try:
        store = open_store(store_url)
        kinds = ("executions", "callbacks")
        places = [Places(action["action_uuid"], action["run"], kind) for kind in kinds]
        if action["reused"] is not None:
            places.append(Places.of_output(action["action_uuid"], action["run"], action["reused"]))
        prefixes = [each.folder.rsplit("/", 1)[0] for each in places]
        return [store.url_of(key) for prefix in prefixes for key in store.list(f"{prefix}/")]
    except (SwitchyardError, OSError):
        return []


def _facts(action: Mapping[str, Any]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column()
    table.add_column(overflow="fold")
    for field, label in LABELS.items():
        if action[field] not in (None, {}):
            table.add_row(Text(label, style="dim"), cell(action[field]))
    return table


def _print_events(events: list[dict[str, Any]]) -> None:
    shown = [dict(event, what=_what_happened(event)) for event in events]
    fields = "event_time=time status run attempt source what=what_happened"
    print_table(shown, fields, "No events yet: it waits to be claimed.", folded=True)


def _what_happened(event: Mapping[str, Any]) -> str:
    detail = event["detail"] if isinstance(event["detail"], dict) else {}
    parts = [event["error"] or detail.get("note") or ""]
    if "progress" in detail:
        parts.append(f"{_share(detail['progress'])} {detail.get('step', '')}".strip())
    if event["retry_seconds"] is not None:
        parts.append(f"again in {event['retry_seconds']:.1f} s")
    if event["ignored"]:
        parts.append("(ignored: too late, or a duplicate)")
    return " ".join(str(part) for part in parts if part)


def _share(progress: Any) -> str:
    try:
        return f"{float(progress):.0%}"
    except (TypeError, ValueError, OverflowError):
        return str(progress)


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
        f"  {printable(what)}  ",
        (str(member["action_uuid"]), "dim"),
    )
    if member["error"]:
        text.append(f"  {printable(member['error'])[:120]}", style="red")
    return text


def _files(urls: list[str]) -> list[Text]:
    return [Text(), Text("files"), *(Text(f"  {printable(url)}") for url in urls)] if urls else []
