"""A Workflow that continues where an earlier one of another name failed, made from the archived resource.

Argo's controller creates a node for each step that its status does not have yet, and leaves the nodes that
succeeded alone. So the new Workflow begins with a status: the nodes that succeeded, under the new name, and
the groups around those that did not, running again. The spec is that of a new run: a template that was
corrected meanwhile applies to all that is still to be done.

Node names begin with the workflow's name, and a node's id is a hash of its name.
"""

from collections.abc import Mapping, Set
from datetime import UTC, datetime
from typing import Any

from switchyard.backends.argo.nodes import Node, Nodes, nodes_of, pack, packed

_DONE = frozenset({"Succeeded", "Skipped"})
_GROUPS = frozenset({"Steps", "StepGroup", "DAG", "TaskGroup"})
# These decide with their children: what failed under one that succeeded was allowed to, or was tried again.
_DECIDED_WITH_CHILDREN = frozenset({"StepGroup", "TaskGroup", "Retry"})
_WORK = frozenset({"Pod", "Container", "Suspend", "HTTP", "Plugin", "Skipped"})


class NothingToContinue(ValueError):  # noqa: N818 - no error: the run starts from the beginning
    """The archived workflow gives nothing to continue with; the message gives the reason."""


def continued(archived: Mapping[str, Any], body: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """The new Workflow with what the archived one has done, and how many nodes need not run again."""
    old = str((archived.get("metadata") or {}).get("name"))
    nodes = {key: node for key, node in nodes_of(archived).items() if not _is_exit(node, old)}
    root = nodes.get(old)
    if root is None:
        raise NothingToContinue("the earlier run has no nodes")
    if root.get("phase") in _DONE:
        raise NothingToContinue("every node of the earlier run succeeded")
    tried = _under_retry(nodes)
    nodes = {key: node for key, node in nodes.items() if key not in tried}
    kept = _kept(nodes)
    work = sum(nodes[key].get("type") in _WORK for key in kept if nodes[key].get("phase") == "Succeeded")
    if not work:
        raise NothingToContinue("no node of the earlier run succeeded")
    names = _Names(old, str(body["metadata"]["name"]), nodes)
    remaining = kept | {key for key, node in nodes.items() if node.get("type") in _GROUPS}
    made = [_node(node, names, remaining, again=key not in kept)
            for key, node in nodes.items() if key in remaining]  # fmt: skip
    status = _status({node["id"]: node for node in made}, compressed=packed(archived))
    return {**body, "status": status}, work


def _status(nodes: Nodes, *, compressed: bool) -> dict[str, Any]:
    """As the controller stored them: those of a large workflow are more than Kubernetes takes as they are."""
    return {"compressedNodes": pack(nodes)} if compressed else {"nodes": nodes}


def _is_exit(node: Node, workflow: str) -> bool:
    """An exit handler runs at the end of every run."""
    return str(node.get("name", "")).startswith(f"{workflow}.onExit")


def _under_retry(nodes: Nodes) -> set[str]:
    """The attempts of what was retried in vain, with all that belongs to them: it is started again."""
    under = {
        child
        for node in nodes.values()
        if node.get("type") == "Retry" and node.get("phase") not in _DONE
        for child in node.get("children") or ()
    }
    return under | _inside(nodes, under)


def _inside(nodes: Nodes, groups: Set[str]) -> set[str]:
    """All nodes within these, at any depth."""
    inside: set[str] = set()
    while more := {key for key, node in nodes.items()
                   if key not in inside and node.get("boundaryID") in groups | inside}:  # fmt: skip
        inside |= more
    return inside


def _kept(nodes: Nodes) -> set[str]:
    """What is done: what succeeded, and everything below a group that did."""
    kept = {key for key, node in nodes.items() if node.get("phase") in _DONE}
    for key in sorted(kept):
        if nodes[key].get("type") in _DECIDED_WITH_CHILDREN:
            kept.update(child for child in nodes[key].get("children") or () if child in nodes)
    return kept | _inside(nodes, kept)


class _Names:
    """Names and ids of the old workflow's nodes in the new one."""

    def __init__(self, old: str, new: str, nodes: Nodes) -> None:
        self._old, self._new = old, new
        self._ids = {key: self._id(self.name(str(node.get("name", "")))) for key, node in nodes.items()}

    def name(self, name: str) -> str:
        return self._new + name.removeprefix(self._old)

    def __getitem__(self, key: str) -> str:
        return self._ids[key]

    def _id(self, name: str) -> str:
        return name if name == self._new else f"{self._new}-{_fnv1a(name)}"


def _fnv1a(text: str) -> int:
    """The 32-bit FNV-1a hash, by which Argo makes a node's id from its name."""
    value = 0x811C9DC5
    for byte in text.encode():
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value


def _node(node: Node, names: _Names, remaining: Set[str], *, again: bool) -> dict[str, Any]:
    made = {**node, "id": names[node["id"]], "name": names.name(str(node["name"]))}
    for field in ("children", "outboundNodes"):
        if field in made:
            made[field] = [names[key] for key in made[field] or () if key in remaining]
    if made.get("boundaryID"):
        made["boundaryID"] = names[made["boundaryID"]]
    if again:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        made |= {"phase": "Running", "startedAt": now, "finishedAt": None}
        for field in ("message", "outputs", "outboundNodes", "progress"):
            made.pop(field, None)
    return made
