"""What has to change in a workflow so that its suspended node has succeeded."""

import copy
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from switchyard.backends.argo.nodes import Nodes, nodes_of, pack, packed

_FIELDS = ("id", "name", "displayName", "templateName")
_INPUT = re.compile(r"inputs\.parameters\.([A-Za-z0-9_-]+)\.value")


class Selector:
    """All of its fields have to match."""

    def __init__(self, text: str) -> None:
        self._wanted = [_condition(part) for part in text.split(",")]

    def matches(self, node: Mapping[str, Any]) -> bool:
        """Whether a node is meant."""
        return all(_value(node, field) == value for field, value in self._wanted)


def _condition(part: str) -> tuple[str, str]:
    field, equals, value = part.partition("=")
    field, value = field.strip(), value.removeprefix("=").strip()
    if not equals or not value or not (field in _FIELDS or _INPUT.fullmatch(field)):
        raise ValueError(
            f"a node selector is like displayName=approve, with {', '.join(_FIELDS)}: not {part!r}"
        )
    return field, value


def _value(node: Mapping[str, Any], field: str) -> str | None:
    named = _INPUT.fullmatch(field)
    if named is None:
        return node.get(field)
    for parameter in (node.get("inputs") or {}).get("parameters") or []:
        if parameter.get("name") == named[1]:
            return str(parameter.get("value"))
    return None


Workflow = Mapping[str, Any]


def suspended(workflow: Workflow, selector: Selector) -> list[str]:
    """The nodes that wait and are meant."""
    return [
        key
        for key, node in nodes_of(workflow).items()
        if node.get("type") == "Suspend" and node.get("phase") == "Running" and selector.matches(node)
    ]


def awake(workflow: Workflow, selector: Selector) -> bool:
    """Whether a node that is meant has been woken before."""
    nodes = nodes_of(workflow).values()
    return any(
        n.get("type") == "Suspend" and n.get("phase") == "Succeeded" and selector.matches(n) for n in nodes
    )


def waking(workflow: Workflow, keys: list[str], outputs: Mapping[str, str], message: str) -> dict[str, Any]:
    """The merge patch; ValueError where the node does not expect these outputs."""
    nodes = nodes_of(workflow)
    changed = {key: _woken(nodes[key], outputs, message) for key in keys}
    version = {"resourceVersion": workflow["metadata"]["resourceVersion"]}
    if packed(workflow):
        return {"metadata": version, "status": {"compressedNodes": pack(_merged(nodes, changed))}}
    return {"metadata": version, "status": {"nodes": changed}}


def _merged(nodes: Nodes, changed: Nodes) -> Nodes:
    return {key: {**node, **changed.get(key, {})} for key, node in nodes.items()}


def _woken(node: Mapping[str, Any], outputs: Mapping[str, str], message: str) -> dict[str, Any]:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    woken: dict[str, Any] = {"phase": "Succeeded", "finishedAt": now, "message": message}
    supplied = _supplied(node, outputs)
    return {**woken, "outputs": {**node["outputs"], "parameters": supplied}} if supplied else woken


def _supplied(node: Mapping[str, Any], outputs: Mapping[str, str]) -> list[dict[str, Any]]:
    """The node's output parameters with what is given for those that wait to be supplied."""
    expected = copy.deepcopy((node.get("outputs") or {}).get("parameters") or [])
    names = {p["name"] for p in expected if "supplied" in (p.get("valueFrom") or {})}
    if unknown := sorted(outputs.keys() - names):
        raise ValueError(f"the node expects no output {unknown[0]!r}: {_list(names)}")
    for parameter in expected:
        if parameter["name"] in outputs:
            parameter["value"] = outputs[parameter["name"]]
        elif parameter["name"] in names:
            default = (parameter.get("valueFrom") or {}).get("default")
            if default is None:
                raise ValueError(f"the node waits for the output {parameter['name']!r}, and none is given")
            parameter["value"] = default
        parameter.pop("valueFrom", None)
    return expected


def _list(names: set[str]) -> str:
    return f"it expects {', '.join(sorted(names))}" if names else "it expects none"
