"""The members of a graph or campaign, for `switchyard show`: layers, and what each node waits for."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from switchyard.cli.database import Rows
from switchyard.cli.ids import short
from switchyard.cli.output import printable
from switchyard.cli.table import print_table
from switchyard.ledger.queries import query

MOST_MEMBERS = 1000  # as many as a graph has at most
FIRST_ITEMS = 20  # of a campaign, whose members are all alike
FIRST_NAMES = 10  # of those that a node waits for
FIELDS = "layer node what status run action_uuid=action waits_for"

Members = Sequence[Mapping[str, Any]]


def members_of(connection: Rows, uuid: UUID) -> dict[str, Any] | None:
    """How many members it has, how they ended, and the first of them; None for an action without members."""
    progress = connection.execute(query("look", "set"), {"uuid": uuid}).fetchone()
    if progress is None:
        return None
    values = {"uuid": uuid, "limit": MOST_MEMBERS}
    return {**progress, "members": connection.execute(query("look", "members"), values).fetchall()}


def print_members(found: Mapping[str, Any]) -> None:
    """Counts first, then the members."""
    members: Members = found["members"]
    is_graph = any(member["node"] is not None for member in members)
    shown = members if is_graph else members[:FIRST_ITEMS]
    done = found["successful"] + found["unsuccessful"]
    print(
        f"{done:,} of {found['added']:,} {'nodes' if is_graph else 'members'} done, "
        f"{found['unsuccessful']:,} of them without success; {found['open']:,} open."
    )
    print_table(list(_rows(shown)), FIELDS, "It has no members yet.", folded=True)
    if len(shown) < found["added"]:
        print(f"… the first {len(shown):,}")


def layers(members: Members) -> dict[UUID, int]:
    """The layer of each: 1 for those that wait for no other member, else one more than those they wait for.

    Members are in the order of their ids, and each waits only for members before it.
    """
    found: dict[UUID, int] = {}
    for member in members:
        before = (found.get(uuid, 0) for uuid in member["after"] or ())
        found[member["action_uuid"]] = 1 + max(before, default=0)
    return found


def _rows(members: Members) -> Iterator[dict[str, Any]]:
    layer = layers(members)
    names = {member["action_uuid"]: member["node"] for member in members}
    above = 0
    for member in sorted(members, key=lambda member: layer[member["action_uuid"]]):
        here = layer[member["action_uuid"]]
        yield {
            **member,
            "node": member["node"] or "",
            "layer": here if here > above else "",
            "what": member["workflow"] or member["action_name"],
            "waits_for": _waits_for(member, names),
        }
        above = here


def _waits_for(member: Mapping[str, Any], names: Mapping[UUID, str | None]) -> str:
    after = _listed([names.get(uuid) or short(uuid) for uuid in member["after"] or ()])
    policy = " (however they end)" if member["after_policy"] == "ended" else ""
    waits = f"after {after}{policy}" if after else ""
    error = printable(member["error"] or "")[:120]
    return ": ".join(part for part in (waits, error) if part)


def _listed(names: Sequence[str]) -> str:
    more = len(names) - FIRST_NAMES
    return ", ".join(names[:FIRST_NAMES]) + (f" and {more:,} more" if more > 0 else "")
