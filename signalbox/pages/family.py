"""The callbacks of a job as a tree: grouped by definition, failures first."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from signalbox.pages import words
from signalbox.records.graph import Step
from signalbox.records.jobs import Relative
from switchyard.status import ENDS, Status

SHOWN = 10  # per definition; the rest are only counted


@dataclass(slots=True)
class Node:
    """One action with its callbacks."""

    member: Relative
    groups: "list[Group]" = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Group:
    """The actions that one callback definition created."""

    name: str
    nodes: Sequence[Node]
    left_out: int
    counts: str
    status: Status


def group_callbacks(family: Iterable[Relative]) -> list[Group]:
    """The groups directly below the first member, each with its own groups."""
    members = list(family)
    children: dict[Any, list[Relative]] = {}
    for member in members[1:]:
        children.setdefault(member.parent_uuid, []).append(member)
    return _groups(members[0].action_uuid, children) if members else []


def _groups(parent: Any, children: Mapping[Any, list[Relative]]) -> list[Group]:
    by_name: dict[str, list[Relative]] = {}
    for member in children.get(parent, ()):
        by_name.setdefault(member.callback or member.workflow or member.action_name, []).append(member)
    return [_group(name, members, children) for name, members in by_name.items()]


def _group(name: str, members: list[Relative], children: Mapping[Any, list[Relative]]) -> Group:
    ordered = sorted(members, key=lambda member: (_rank(member.status), str(member.action_uuid)))
    nodes = [Node(member, _groups(member.action_uuid, children)) for member in ordered[:SHOWN]]
    return Group(name, nodes, len(ordered) - len(nodes), counted(members), Status(ordered[0].status))


def counted(members: Iterable[Relative | Step]) -> str:
    """The number of actions per status, failures first."""
    found = Counter(Status(member.status) for member in members)
    return ", ".join(f"{found[status]:,} {words.word(status).lower()}" for status in sorted(found, key=_rank))


def unfinished(members: Iterable[Relative]) -> str:
    """The unfinished or failed callbacks of a job that has ended; nothing if all were successful."""
    found = list(members)
    left = [member for member in found if Status(member.status) is not Status.SUCCESSFUL]
    if not left:
        return ""
    of = f"{len(left):,} of {words.many(len(found), 'callback')}"
    return f"{of} {'has' if len(left) == 1 else 'have'} not succeeded: {counted(left)}."


def _rank(status: str) -> int:
    """Unsuccessful ends first, then open actions, then successful ones."""
    known = Status(status)
    if known is Status.SUCCESSFUL:
        return 2
    return 0 if known in ENDS else 1
