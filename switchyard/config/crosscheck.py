"""Checks between the parts of a configuration, with errors and warnings."""

from collections.abc import Iterator
from dataclasses import replace

from pydantic import TypeAdapter, ValidationError

from switchyard.config.action import Action
from switchyard.config.callbacks import Callback
from switchyard.config.parts import Parts, WorkflowPart
from switchyard.config.problems import Path, Problem, nearest
from switchyard.config.schedules import Schedule
from switchyard.config.stepcheck import check_reserved, check_steps
from switchyard.config.templates import names_under, parse_template

Edge = tuple[str, int]  # the workflow that is started, and the number of the callback that does it


def crosscheck(parts: Parts) -> Iterator[Problem]:
    """Every problem between the parts."""
    for name, action in parts.actions.items():
        if action is not None:
            yield from _action(("actions", name), action, parts)
    for name, workflow in parts.workflows.items():
        if workflow is not None:
            yield from _workflow(("workflows", name), workflow, parts)
            yield from check_steps(("workflows", name), name, workflow, parts)
    yield from check_reserved(parts)
    for name, schedule in parts.schedules.items():
        if schedule is not None:
            yield from _schedule(("schedules", name), schedule, parts)
    yield from _cycles(parts)
    if not parts.actions:
        yield Problem(("actions",), "no action is configured, so nothing is served", warning=True)


def _action(path: Path, action: Action, parts: Parts) -> Iterator[Problem]:
    if action.delivery == "at_most_once" and not action.answers_itself:
        message = f"at_most_once is for http and noop; for {action.type}: {action.instead_of_at_most_once}"
        yield Problem((*path, "delivery"), message)
    scoped = action.breaker is not None and action.breaker.scope == "lane"
    per_lane = action.limits.per_lane
    if scoped and per_lane.in_flight is None and per_lane.rate is None:
        message = "a breaker per lane needs limits.per_lane with in_flight or rate, which it lowers"
        yield Problem((*path, "breaker", "scope"), message)
    for inner, text in action.templates():
        yield from _secrets((*path, *inner), text, parts)
    for problem in action.problems():
        yield replace(problem, path=(*path, *problem.path))
    for key, name in action.submits():
        yield from _submitted((*path, key), name, parts)


def _secrets(path: Path, text: str, parts: Parts) -> Iterator[Problem]:
    for name in sorted(names_under(parse_template(text), "secrets") - parts.secrets):
        near = nearest(name, parts.secrets)
        yield Problem(path, f"there is no secret {name!r}{near}: add it to secrets, like {name}: env:NAME")


def _workflow(path: Path, workflow: WorkflowPart, parts: Parts) -> Iterator[Problem]:
    if workflow.action not in parts.actions:
        yield Problem((*path, "action"), unknown_action(workflow.action, parts))
    action = parts.actions.get(workflow.action)
    if action is not None and not action.runs_workflows:
        yield Problem(
            (*path, "action"), f"{workflow.action!r} is of type {action.type}, which runs no workflows"
        )
    elif action is not None:
        yield from _template(path, workflow, action)
    if workflow.limited and action is not None and action.limits.for_fleet:
        message = f"limits of a workflow and of its action ({workflow.action!r}) cannot be combined: give one"
        yield Problem((*path, "limits"), message)
    for number, callback in workflow.callbacks:
        yield from check_callback((*path, "callbacks", number), callback, parts)


def _template(path: Path, workflow: WorkflowPart, action: Action) -> Iterator[Problem]:
    if workflow.manifest:
        if action.type != "argo":
            yield Problem((*path, "manifest"), f"is for actions of type argo, not {action.type}")
    elif workflow.template is not None:
        yield from _template_form((*path, "template"), workflow.template, action)
    elif action.template_of is not None and action.default_template is None:
        yield Problem((*path, "template"), f"is missing: the {action.template_of} that {action.type} runs")


def _template_form(path: Path, template: str | tuple[str, ...], action: Action) -> Iterator[Problem]:
    if action.template_of is None:
        yield Problem(path, f"an action of type {action.type} has no templates: leave it out")
        return
    adapter: TypeAdapter[object] = TypeAdapter(action.template_form)
    try:
        adapter.validate_python(template)
    except ValidationError:
        examples = " or ".join(str(example) for example in adapter.json_schema().get("examples", []))
        like = f", like {examples}" if examples else ""
        yield Problem(path, f"is not the {action.template_of} that type {action.type} needs{like}")


def check_callback(path: Path, callback: Callback, parts: Parts) -> Iterator[Problem]:
    """Check that the action and workflow of a callback exist and are suitable."""
    if callback.action not in parts.actions:
        yield Problem((*path, "action"), unknown_action(callback.action, parts))
    action = parts.actions.get(callback.action)
    if callback.workflow is not None:
        yield from _chained(path, callback, callback.workflow, parts)
    elif action is not None and not action.takes_callbacks:
        message = (
            f"{callback.action!r} is of type {action.type}, which runs workflows: name one with workflow"
        )
        yield Problem((*path, "action"), message)
    elif action is not None and callback.parameters:
        for name in sorted(action.needed_parameters - callback.parameters.keys()):
            message = f"{name!r} is missing, which type {action.type} needs"
            yield Problem((*path, "parameters"), message)


def _chained(path: Path, callback: Callback, name: str, parts: Parts) -> Iterator[Problem]:
    if name not in parts.workflows:
        yield Problem((*path, "workflow"), f"there is no workflow {name!r}{nearest(name, parts.workflows)}")
    workflow = parts.workflows.get(name)
    if workflow is not None and workflow.action != callback.action:
        message = f"the workflow {name!r} runs on {workflow.action!r}: write action: {workflow.action}"
        yield Problem((*path, "action"), message)


def _schedule(path: Path, schedule: Schedule, parts: Parts) -> Iterator[Problem]:
    if schedule.workflow is not None and schedule.workflow not in parts.workflows:
        near = nearest(schedule.workflow, parts.workflows)
        yield Problem((*path, "workflow"), f"there is no workflow {schedule.workflow!r}{near}")
    if schedule.action is None:
        return
    yield from _submitted((*path, "action"), schedule.action, parts, ": give workflow instead")


def _submitted(path: Path, name: str, parts: Parts, instead: str = "") -> Iterator[Problem]:
    """Whether an action can be submitted by its name alone."""
    action = parts.actions.get(name)
    if name not in parts.actions:
        yield Problem(path, unknown_action(name, parts))
    elif action is not None and not action.takes_callbacks:
        yield Problem(path, f"{name!r} is of type {action.type}, which runs workflows{instead}")


def unknown_action(name: str, parts: Parts) -> str:
    """The error for an unknown action name."""
    known = f"; there are {', '.join(parts.actions)}" if parts.actions else ""
    return f"there is no action {name!r}{nearest(name, parts.actions) or known}"


def _cycles(parts: Parts) -> Iterator[Problem]:
    """One warning for each callback that closes a cycle."""
    edges = {name: _edges_of(parts, name) for name in parts.workflows}
    for name, targets in edges.items():
        for target, number in targets:
            if name in _reached(edges, target):
                path = ("workflows", name, "callbacks", number, "workflow")
                message = f"{target!r} leads back to {name!r}: without a filter this never ends"
                yield Problem(path, message, warning=True)


def _edges_of(parts: Parts, name: str) -> list[Edge]:
    workflow = parts.workflows[name]
    callbacks = workflow.callbacks if workflow is not None else ()
    return [(callback.workflow, number) for number, callback in callbacks if callback.workflow is not None]


def _reached(edges: dict[str, list[Edge]], start: str) -> set[str]:
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting.extend(target for target, _ in edges.get(name, ()))
    return reached
