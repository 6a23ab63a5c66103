"""Finds the step that really failed.

A workflow's own message is only "child 'x' failed", and x may be a Steps, DAG or Retry node whose own
children failed. From the root (or the exit handler, where only that failed) the walk goes down: where a
node's message names its child, to that child; else to a failed node inside its boundary; until there is none.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from switchyard.backends.argo.nodes import Nodes

_CHILD = re.compile(r"child '([^']+)' failed")
_FAILED = ("Failed", "Error")


@dataclass(frozen=True, slots=True)
class FailedStep:
    """The leaf at the bottom of a failed workflow."""

    node_id: str
    name: str
    template: str | None
    message: str
    exit_code: int | None
    node: dict[str, Any]


def failed_step(nodes: Nodes, workflow_name: str) -> FailedStep | None:
    """The node at the end of the walk; None where no node failed (an invalid spec makes none)."""
    start = _start(nodes, workflow_name)
    if start is None:
        return None
    seen = {start}
    at = start
    while (below := _below(nodes, at, seen)) is not None:
        at = below
        seen.add(at)
    return _step(at, nodes[at])


def _start(nodes: Nodes, workflow_name: str) -> str | None:
    """The root; else the exit handler; else whatever failed first."""
    if _failed(nodes.get(workflow_name)):
        return workflow_name
    handlers = [key for key, node in nodes.items() if node.get("name") == f"{workflow_name}.onExit"]
    failed = [key for key in handlers if _failed(nodes[key])] or [key for key in nodes if _failed(nodes[key])]
    return min(failed, key=lambda key: _order(nodes[key]), default=None)


def _below(nodes: Nodes, at: str, seen: set[str]) -> str | None:
    node = nodes[at]
    named = _CHILD.search(str(node.get("message") or ""))
    if named and named[1] not in seen and _failed(nodes.get(named[1])):
        return named[1]
    if node.get("type") == "Retry":
        attempts = [child for child in node.get("children") or [] if _failed(nodes.get(child))]
        return attempts[-1] if attempts and attempts[-1] not in seen else None
    inside = [key for key in _inside(nodes, at) if key not in seen]
    return min(inside, key=lambda key: _order(nodes[key]), default=None)


def _inside(nodes: Nodes, at: str) -> Iterator[str]:
    """Failed nodes whose boundary is this node, without those that a step group tolerated."""
    tolerated = _children(nodes, "StepGroup", "Succeeded")
    retried = _children(nodes, "Retry")
    for key, node in nodes.items():
        if node.get("boundaryID") == at and _failed(node) and key not in tolerated and key not in retried:
            yield key


def _children(nodes: Nodes, kind: str, phase: str | None = None) -> set[str]:
    parents = [n for n in nodes.values() if n.get("type") == kind and phase in (None, n.get("phase"))]
    return {child for node in parents for child in node.get("children") or []}


def _order(node: dict[str, Any]) -> tuple[bool, str, str]:
    """Groups after real steps, then the one that failed first: others often fail because of it."""
    grouping = node.get("type") in ("StepGroup", "TaskGroup")
    return grouping, str(node.get("finishedAt") or "9"), str(node.get("id"))


def _failed(node: dict[str, Any] | None) -> bool:
    return node is not None and node.get("phase") in _FAILED


def _step(key: str, node: dict[str, Any]) -> FailedStep:
    code = str((node.get("outputs") or {}).get("exitCode") or "")
    return FailedStep(
        node_id=key,
        name=str(node.get("displayName") or node.get("name") or key),
        template=node.get("templateName"),
        message=str(node.get("message") or ""),
        exit_code=int(code) if re.fullmatch(r"-?[0-9]{1,9}", code) else None,
        node=node,
    )
