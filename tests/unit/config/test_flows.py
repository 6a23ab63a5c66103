"""Which action names and workflows have a flow."""

from typing import Any

import pytest
from pydantic import ValidationError

from switchyard.config.config import Config
from switchyard.config.flows import flows_of

LIMITED = {"limits": {"running": 2}}
CONFIG = Config.model_validate(
    {
        "actions": {"one": {"type": "noop"}, "two": {"type": "noop"}, "three": {"type": "noop"}},
        "workflows": {"plain": {"action": "one"}, "limited": {"action": "two", **LIMITED}},
    }
)


def test_a_workflow_with_limits_is_a_flow_of_its_own_action_name_only() -> None:
    assert [flow["flow"] for flow in flows_of(CONFIG, "one")] == []
    assert [flow["action_name"] for flow in flows_of(CONFIG, "two")] == ["two", "two"]
    assert [flow.get("workflow") for flow in flows_of(CONFIG, "two")] == [None, "limited"]
    assert flows_of(CONFIG, "three") == []


@pytest.mark.parametrize("limits", [{"in_flight": 0}, {"per_lane": {"in_flight": 0}}])
def test_a_limit_that_allows_nothing_is_refused(limits: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        Config.model_validate({"actions": {"one": {"type": "noop", "limits": limits}}})


def test_priorities_that_age_make_a_flow_of_a_name_and_its_workflows() -> None:
    aging = {"type": "noop", "priority_aging": "10m"}
    workflows = {"limited": {"action": "one", **LIMITED}}
    alone = Config.model_validate({"actions": {"one": aging}})
    assert [(flow["flow"], flow["priority_aging"]) for flow in flows_of(alone, "one")] == [("one", 600)]
    config = Config.model_validate({"actions": {"one": aging}, "workflows": workflows})
    assert [flow["priority_aging"] for flow in flows_of(config, "one")] == [600, 600]
    assert flows_of(CONFIG, "two")[0]["priority_aging"] is None


@pytest.mark.parametrize("step", ["0s", "500ms", "366d", "often"])
def test_a_step_of_aging_that_is_none_is_refused(step: str) -> None:
    with pytest.raises(ValidationError, match="priority_aging"):
        Config.model_validate({"actions": {"one": {"type": "noop", "priority_aging": step}}})
