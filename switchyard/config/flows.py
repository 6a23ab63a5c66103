"""Which action names and workflows have lanes, limits, or priorities that age: announced to the database.

The decisions are ADR 0131 and 0250.
"""

from typing import Any

from switchyard.config.action import Action
from switchyard.config.config import Config
from switchyard.config.workflows import Workflow


def flows_of(config: Config, name: str) -> list[dict[str, Any]]:
    """The rows of `switchyard.flow` for an action name; none where it has nothing of that.

    Where a workflow has limits of its own, the name has a flow for the rest.
    """
    action = config.actions[name]
    limited = {key: flow for key, flow in config.workflows.items() if flow.action == name and flow.limits}
    if action.lane is None and not action.limits.for_fleet and not limited and action.priority_aging is None:
        return []
    flows = [
        _of_name(name, action),
        *(_of_workflow(name, key, workflow) for key, workflow in sorted(limited.items())),
    ]
    return [{**flow, "priority_aging": action.priority_aging} for flow in flows]


def _of_name(name: str, action: Action) -> dict[str, Any]:
    limits = action.limits
    return {
        "flow": name,
        "action_name": name,
        "lane_path": action.lane,
        "in_flight": limits.in_flight,
        "rate": limits.rate,
        "burst": limits.tokens,
        "lane_in_flight": limits.per_lane.in_flight,
        "lane_rate": limits.per_lane.rate,
        "lane_burst": limits.per_lane.tokens,
        "weights": limits.weights,
        "breaker_floor": action.breaker.floor if action.breaker else None,
    }


def _of_workflow(name: str, key: str, workflow: Workflow) -> dict[str, Any]:
    limits = workflow.limits
    assert limits is not None, "only workflows with limits have a flow"
    per_lane = limits.per_lane
    return {
        "flow": f"{name}/{key}",
        "action_name": name,
        "workflow": key,
        "running": limits.running,
        "lane_running": per_lane.running if per_lane else None,
    }
