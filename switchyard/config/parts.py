"""The valid parts of a configuration in which other parts are invalid.

The checks between parts are reported together with the errors inside of them: whoever corrects a file sees
everything at once. A part that is there but cannot be read is None: it exists, and that is all.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter, ValidationError

from switchyard.config.action import Action
from switchyard.config.by_type import AnyAction
from switchyard.config.callbacks import Callback
from switchyard.config.config import Config, with_graph_action
from switchyard.config.schedules import Schedule
from switchyard.config.steps import GRAPH, Step, Taken
from switchyard.config.workflows import TemplateName, Workflow

Numbered = tuple[tuple[int, Callback], ...]


@dataclass(frozen=True, slots=True)
class WorkflowPart:
    """What the checks need to know of a workflow; callbacks with their number in the file."""

    action: str
    template: str | tuple[str, ...] | None
    manifest: bool
    callbacks: Numbered
    limited: bool = False
    steps: Mapping[str, Step] = field(default_factory=dict)
    output: Mapping[str, Taken] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Parts:
    """The valid parts, by name."""

    actions: Mapping[str, Action | None]
    workflows: Mapping[str, WorkflowPart | None]
    secrets: frozenset[str]
    schedules: Mapping[str, Schedule | None]


def parts_of(config: Config) -> Parts:
    """All of a configuration that could be read."""
    workflows = {name: _part(workflow) for name, workflow in config.workflows.items()}
    return Parts(config.actions, workflows, frozenset(config.secrets), config.schedules)


def _part(workflow: Workflow) -> WorkflowPart:
    numbered = tuple(enumerate(workflow.callbacks))
    return WorkflowPart(
        workflow.action,
        workflow.template,
        workflow.manifest is not None,
        numbered,
        workflow.limits is not None,
        workflow.steps,
        workflow.output,
    )


def salvage(data: Any, context: dict[str, Any]) -> Parts:
    """The valid parts of invalid data."""
    adapter: TypeAdapter[Action] = TypeAdapter(AnyAction)
    data = with_graph_action(data)
    actions = {name: _read(adapter, value, context) for name, value in _section(data, "actions").items()}
    workflows = {
        name: _salvage_workflow(value, context) for name, value in _section(data, "workflows").items()
    }
    read = TypeAdapter(Schedule)
    schedules = {name: _read(read, value, context) for name, value in _section(data, "schedules").items()}
    return Parts(actions, workflows, frozenset(_section(data, "secrets")), schedules)


def _section(data: Any, name: str) -> Mapping[str, Any]:
    section = data.get(name) if isinstance(data, dict) else None
    return section if isinstance(section, dict) else {}


def _salvage_workflow(value: Any, context: dict[str, Any]) -> WorkflowPart | None:
    action = value.get("action", GRAPH if value.get("steps") else None) if isinstance(value, dict) else None
    if not isinstance(action, str):
        return None
    template = _read(TypeAdapter(TemplateName), value.get("template"), context)
    hidden = "manifest" in value or (template is None and value.get("template") is not None)
    read = {name: _read(TypeAdapter(Step), step, context) for name, step in _section(value, "steps").items()}
    steps = {name: step for name, step in read.items() if step is not None}
    if len(steps) < len(read):
        steps = {}  # one that cannot be read would seem to be missing
    callbacks = tuple(_salvage_callbacks(value, context))
    return WorkflowPart(action, template, hidden, callbacks, steps=steps)


def _salvage_callbacks(value: dict[str, Any], context: dict[str, Any]) -> Iterator[tuple[int, Callback]]:
    written = value.get("callbacks")
    for number, item in enumerate(written if isinstance(written, list) else []):
        adapter = TypeAdapter(Callback)
        callback = _read(adapter, item, context) or _read(adapter, _what_it_names(item), context)
        if callback is not None:
            yield number, callback


def _what_it_names(item: Any) -> Any:
    named = ("action", "workflow")
    return (
        {"name": "unreadable", **{key: item[key] for key in named if key in item}}
        if isinstance(item, dict)
        else item
    )


def _read(adapter: TypeAdapter[Any], value: Any, context: dict[str, Any]) -> Any:
    try:
        return adapter.validate_python(value, context=context)
    except ValidationError:
        return None
