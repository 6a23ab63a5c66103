"""Checks of workflows with steps: what a step names is there, and no step waits for itself."""

from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

from switchyard.config.parts import Parts, WorkflowPart
from switchyard.config.problems import Path, Problem, nearest
from switchyard.config.steps import GRAPH, OUTPUT, RESERVED, Step, Taken


def check_reserved(parts: Parts) -> Iterator[Problem]:
    """`graph` and `campaign` are the ledger's own."""
    for name, action in parts.actions.items():
        kind = action.type if action is not None else ""
        if name in RESERVED and kind != GRAPH:
            yield Problem(("actions", name), f"{name!r} is reserved: give it another name")
        elif kind == GRAPH and name != GRAPH:
            yield Problem(("actions", name, "type"), f"the only action of type {GRAPH} is called {GRAPH!r}")


def check_steps(path: Path, name: str, workflow: WorkflowPart, parts: Parts) -> Iterator[Problem]:
    """Every problem of one workflow's steps and output."""
    here = (*path, "steps")
    for step_name, step in workflow.steps.items():
        yield from _step((*here, step_name), step, workflow, parts)
    yield from _taken((*path, "output"), workflow.output, workflow)
    if OUTPUT in workflow.steps:
        yield Problem((*here, OUTPUT), f"{OUTPUT!r} is reserved for the workflow's own output")
    yield from _order(here, workflow.steps)
    if name in _below(name, parts):
        yield Problem(here, f"{name!r} is a step of itself: it would never end")


def _step(path: Path, step: Step, workflow: WorkflowPart, parts: Parts) -> Iterator[Problem]:
    if step.workflow is not None and step.workflow not in parts.workflows:
        near = nearest(step.workflow, parts.workflows)
        yield Problem((*path, "workflow"), f"there is no workflow {step.workflow!r}{near}")
    if step.action is not None:
        yield from _action((*path, "action"), step.action, parts)
    for number, other in enumerate(step.after):
        if other not in workflow.steps:
            yield Problem((*path, "after", number), _unknown(other, workflow))
    if step.workflow is None and any(each.from_ is not None for each in step.inputs.values()):
        message = "only a step with a workflow takes outputs of others: an action starts with its parameters"
        yield Problem((*path, "inputs"), message)
    yield from _taken((*path, "inputs"), step.inputs, workflow)


def _action(path: Path, name: str, parts: Parts) -> Iterator[Problem]:
    action = parts.actions.get(name)
    if name not in parts.actions:
        yield Problem(path, f"there is no action {name!r}{nearest(name, parts.actions)}")
    elif action is not None and not action.takes_callbacks:
        yield Problem(path, f"{name!r} is of type {action.type}, which runs workflows: give workflow instead")


def _taken(path: Path, taken: Mapping[str, Taken], workflow: WorkflowPart) -> Iterator[Problem]:
    for name, each in taken.items():
        if each.from_ is None:
            continue
        step = workflow.steps.get(each.from_)
        if step is None:
            yield Problem((*path, name, "from"), _unknown(each.from_, workflow))
        elif step.workflow is None:
            yield Problem(
                (*path, name, "from"), f"step {each.from_!r} runs no workflow, and so has no output"
            )


def _unknown(name: str, workflow: WorkflowPart) -> str:
    return f"there is no step {name!r}{nearest(name, workflow.steps)}"


def _order(path: Path, steps: Mapping[str, Step]) -> Iterator[Problem]:
    try:
        TopologicalSorter({name: step.edges for name, step in steps.items()}).prepare()
    except CycleError as error:
        yield Problem(path, f"these wait for each other: {' -> '.join(reversed(error.args[1]))}")


def _below(name: str, parts: Parts) -> set[str]:
    """The workflows that run as part of one, at any depth."""
    found: set[str] = set()
    open_ = [name]
    while open_:
        workflow = parts.workflows.get(open_.pop())
        steps = workflow.steps.values() if workflow is not None else ()
        fresh = {step.workflow for step in steps if step.workflow is not None} - found
        found |= fresh
        open_ += fresh
    return found
