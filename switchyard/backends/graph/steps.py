"""The graph that a workflow's steps make, as `submit_graph` takes it."""

import json
from collections.abc import Mapping
from typing import Any

from switchyard.backends.inputs import value_of
from switchyard.config.config import Config
from switchyard.config.steps import GRAPH, OUTPUT, Step, Taken
from switchyard.config.workflows import Workflow
from switchyard.process import evaluate
from switchyard.process.shared_pool import shared_pool


async def graph_of(workflow: Workflow, parameters: Mapping[str, Any], config: Config) -> dict[str, Any]:
    """Its nodes; BadInput where something cannot be taken from the parameters."""
    steps = workflow.steps.items()
    nodes = {name: _node(step, config) for name, step in steps}
    taken = {(name, key): each for name, step in steps for key, each in step.inputs.items() if not each.from_}
    if workflow.output:
        nodes[OUTPUT] = _output(workflow)
        taken |= {(OUTPUT, key): each for key, each in workflow.output.items() if not each.from_}
    for (name, key), value in (await _values(taken, parameters)).items():
        nodes[name]["parameters"][key] = value
    return {"nodes": nodes}


def _node(step: Step, config: Config) -> dict[str, Any]:
    action = config.workflows[step.workflow].action if step.workflow is not None else step.action
    node = {"workflow": step.workflow, "priority": step.priority, "lane": step.lane}
    return {name: value for name, value in node.items() if value is not None} | {
        "action_name": action,
        "after": list(step.after),
        "policy": step.policy,
        "parameters": dict(step.parameters),
        "inputs": _of_others(step.inputs),
    }


def _output(workflow: Workflow) -> dict[str, Any]:
    """It waits for every step, so that a workflow that is retriggered puts it together again."""
    inputs = _of_others(workflow.output)
    return {"action_name": GRAPH, "after": list(workflow.steps), "parameters": {}, "inputs": inputs}


def _of_others(taken: Mapping[str, Taken]) -> dict[str, Any]:
    return {name: each.document() for name, each in taken.items() if each.from_ is not None}


async def _values(
    taken: Mapping[tuple[str, str], Taken], parameters: Mapping[str, Any]
) -> dict[tuple[str, str], Any]:
    """What is taken from the workflow's own parameters, in one evaluation."""
    if not taken:
        return {}
    document = json.dumps({"input": parameters}).encode()
    paths = [each.path for each in taken.values()]
    found = await shared_pool().run(evaluate.paths, paths, document, group=GRAPH)
    return {
        place: value_of(
            f"steps.{place[0]}.{place[1]}: {each.path} in the parameters", each.document(), *values
        )
        for (place, each), values in zip(taken.items(), found, strict=True)
    }
