"""Whether something may be submitted: refused here by the field that is wrong, before anything is written."""

from collections.abc import Iterator
from typing import Any

from pydantic import TypeAdapter, ValidationError

from switchyard.config.callbacks import Callback
from switchyard.config.config import Config
from switchyard.config.crosscheck import check_callback
from switchyard.config.explain import explain
from switchyard.config.jsonb import unfit
from switchyard.config.nearest import nearest
from switchyard.config.parts import parts_of
from switchyard.config.problems import Problem


def check_submission(
    config: Config, action_name: str | None, workflow: str | None, parameters: Any, callbacks: Any
) -> list[Problem]:
    """Every problem of a submission, by field."""
    problems = list(_names(config, action_name, workflow))
    problems += _parameters(config, workflow, parameters)
    if callbacks is not None:
        problems += unfit(callbacks, "callbacks") or _callbacks(config, callbacks)
    return problems


def _names(config: Config, action_name: str | None, workflow: str | None) -> Iterator[Problem]:
    if workflow is not None:
        yield from _workflow(config, action_name, workflow)
    elif action_name is None:
        yield Problem(("action_name",), "is missing: give an action name, or a workflow")
    elif action_name not in config.actions:
        near = nearest(action_name, config.actions)
        yield Problem(("action_name",), f"there is no action {_shown(action_name)}{near}")
    elif not config.actions[action_name].takes_callbacks:
        kind = config.actions[action_name].type
        yield Problem(("workflow",), f"is missing: {action_name!r} is of type {kind}, which runs workflows")


def _workflow(config: Config, action_name: str | None, workflow: str) -> Iterator[Problem]:
    known = config.workflows.get(workflow)
    if known is None:
        near = nearest(workflow, config.workflows)
        yield Problem(("workflow",), f"there is no workflow {_shown(workflow)}{near}")
    elif action_name is not None and action_name != known.action:
        message = (
            f"{_shown(action_name)} is not what runs {workflow!r}: leave it out, or give {known.action!r}"
        )
        yield Problem(("action_name",), message)


def _shown(name: str) -> str:
    return repr(name[:100])


def _parameters(config: Config, workflow: str | None, parameters: Any) -> list[Problem]:
    if not isinstance(parameters, dict):
        return [Problem(("parameters",), "must be a JSON object")]
    known = config.workflows.get(workflow) if workflow is not None else None
    schema = known.input_schema if known is not None else None
    met = schema.problems(parameters, ("parameters",)) if schema is not None else ()
    return unfit(parameters, "parameters") or list(met)


def _callbacks(config: Config, callbacks: Any) -> list[Problem]:
    """Callbacks that a caller adds to one action are held to the rules of those in the file."""
    under = ("workflows", "submitted", "callbacks")
    try:
        read = TypeAdapter(tuple[Callback, ...]).validate_python(callbacks)
    except ValidationError as error:
        found = explain(error, {"workflows": {"submitted": {"callbacks": callbacks}}}, under)
        return [Problem(problem.path[2:], problem.message) for problem in found]
    parts = parts_of(config)
    checks = (check_callback(("callbacks", number), callback, parts) for number, callback in enumerate(read))
    return [problem for check in checks for problem in check]
