"""Registers `cirrus`, with one source per queue of status changes, and `cirrus_task`."""

from collections.abc import Iterator, Mapping
from typing import Any

from switchyard.backends.plugin import Backend, SourceContext, by_place
from switchyard.backends.stepfunctions.model import CirrusAction, CirrusTaskAction
from switchyard.handlers import Handler, HandlerContext
from switchyard.sources import ServedSource


def _handler(name: str, action: Any, context: HandlerContext) -> Handler:
    from switchyard.backends.stepfunctions.handler import CirrusHandler

    return CirrusHandler(name, action, context)


def _task_handler(name: str, action: Any, context: HandlerContext) -> Handler:
    from switchyard.backends.stepfunctions.task import CirrusTaskHandler

    return CirrusTaskHandler(name, action, context)


def _sources(actions: Mapping[str, CirrusAction], context: SourceContext) -> Iterator[ServedSource]:
    from switchyard.backends.stepfunctions.source import CirrusSource

    for action, names in by_place(actions, lambda each: (each.endpoint, each.region, each.queue)):
        machines = _state_machines(context.config, names)
        yield ServedSource(CirrusSource(action, machines, context.shard), names, silent=action.describe_after)


def _state_machines(config: Any, names: tuple[str, ...]) -> list[str]:
    """Every state machine that actions with these names may start."""
    used = {workflow.template for workflow in config.workflows.values() if workflow.action in names}
    defaults = {config.actions[name].default_template for name in names}
    return sorted(machine for machine in used | defaults if isinstance(machine, str))


cirrus = Backend("cirrus", _handler, CirrusAction, _sources)
cirrus_task = Backend("cirrus_task", _task_handler, CirrusTaskAction)
