"""All checks of a submission; problems are reported by field, before anything is written."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from switchyard.config.problems import Problem, nearest
from switchyard.errors import BadInput
from switchyard.ledger.jsonb import examine, repaired_text
from switchyard.submit.submission import Request, Submission

if TYPE_CHECKING:
    from switchyard.config.config import Config

LONGEST_NAME = 500
LONGEST_LANE = LONGEST_TAG = 200
MOST_TAGS = 32
MOST_AFTER = 1000
AFTER_POLICIES = ("successful", "ended")
PRIORITIES = range(-32768, 32768)


def accept(submission: Submission, config: "Config | None" = None) -> Request:
    """The submission as a request; raises BadInput with all problems.

    Without a configuration, or with one that has no actions, its names and schemas are not checked.
    """
    request, problems = _examine(submission, config if config is not None and config.actions else None)
    if problems:
        raise BadInput("\n".join(str(problem) for problem in problems))
    return request


def problems_of(submission: Submission, config: "Config | None" = None) -> list[Problem]:
    """The problems of a submission by field; empty if it is valid."""
    return _examine(submission, config)[1]


def _examine(submission: Submission, config: "Config | None") -> tuple[Request, list[Problem]]:
    problems = list(_fields(submission))
    if config is not None and not problems:
        problems += _names(config, submission.action_name, submission.workflow)
        known = config.workflows.get(submission.workflow or "")
        if known is not None and submission.action_name is None:
            submission = replace(submission, action_name=known.action)
    elif not (submission.action_name or submission.workflow or problems):
        problems.append(Problem(("action_name",), "is missing: give an action name, or a workflow"))
    parameters, found = _parameters(submission, config)
    problems += found
    callbacks, found = check_callbacks(submission.callbacks, config)
    return Request(submission, parameters, callbacks), problems + found


def _fields(submission: Submission) -> Iterator[Problem]:
    """What was read from a file of JSON can be anything."""
    for name in ("action_name", "workflow", "correlation_id", "idempotency_key", "lane"):
        value = getattr(submission, name)
        longest = LONGEST_LANE if name == "lane" else LONGEST_NAME
        message = None if value is None else _text_problem(value, longest)
        if message is not None:
            yield Problem((name,), message)
    yield from _tags(submission.tags)
    yield from _after(submission.after, submission.after_policy)
    if not isinstance(submission.priority, int):
        yield Problem(("priority",), "must be a whole number")
    elif submission.priority not in PRIORITIES:
        yield Problem(("priority",), f"must be between {PRIORITIES[0]} and {PRIORITIES[-1]}")
    start = submission.start_after
    if start is not None and not (isinstance(start, datetime) and start.tzinfo):
        yield Problem(("start_after",), "must be a time with a time zone")
    if submission.no_cache is not None and not isinstance(submission.no_cache, bool):
        yield Problem(("no_cache",), "must be true or false")
    if submission.parent_uuid is not None and not isinstance(submission.parent_uuid, UUID):
        yield Problem(("parent_uuid",), "must be a UUID")


def _after(after: Any, policy: Any) -> Iterator[Problem]:
    if not isinstance(after, list | tuple) or not all(isinstance(uuid, UUID) for uuid in after):
        yield Problem(("after",), "must be a list of UUIDs")
    elif len(after) > MOST_AFTER:
        yield Problem(("after",), f"must have at most {MOST_AFTER} actions, not {len(after)}")
    if policy is not None and policy not in AFTER_POLICIES:
        yield Problem(("after_policy",), f"must be {' or '.join(AFTER_POLICIES)}")
    elif policy is not None and not after:
        yield Problem(("after_policy",), "is for actions that wait: give after, too")


def _tags(tags: Any) -> Iterator[Problem]:
    if not isinstance(tags, list | tuple):
        yield Problem(("tags",), "must be a list of strings")
    elif len(tags) > MOST_TAGS:
        yield Problem(("tags",), f"must have at most {MOST_TAGS} tags, not {len(tags)}")
    else:
        for number, tag in enumerate(tags):
            message = _text_problem(tag, LONGEST_TAG)
            if message is not None:
                yield Problem(("tags", number), message)


def _text_problem(value: Any, longest: int) -> str | None:
    if not isinstance(value, str):
        return "must be a string"
    if not 1 <= len(value) <= longest:
        return f"must have 1 to {longest} characters, not {len(value)}"
    if "\0" in value:
        return "has a NUL character, which Postgres cannot store"
    if repaired_text(value) != value:
        return "has half of a surrogate pair, which is not valid text"
    return None


def _names(config: "Config", action_name: str | None, workflow: str | None) -> Iterator[Problem]:
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


def _workflow(config: "Config", action_name: str | None, workflow: str) -> Iterator[Problem]:
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


def _parameters(submission: Submission, config: "Config | None") -> tuple[str, list[Problem]]:
    if not isinstance(submission.parameters, Mapping):
        return "", [Problem(("parameters",), "must be a JSON object")]
    text, problems = examine(submission.parameters, "parameters")
    workflow = config.workflows.get(submission.workflow or "") if config is not None else None
    if not problems and workflow is not None and workflow.input_schema is not None:
        problems = list(workflow.input_schema.problems(dict(submission.parameters), ("parameters",)))
    return text, problems


def check_callbacks(callbacks: Any, config: "Config | None") -> tuple[str | None, list[Problem]]:
    """The callbacks of one action as JSON, and what is wrong with them."""
    if callbacks is None:
        return None, []
    listed = isinstance(callbacks, list | tuple)
    if not listed or not all(isinstance(callback, Mapping) for callback in callbacks):
        return None, [Problem(("callbacks",), "must be a list of objects")]
    text, problems = examine(callbacks, "callbacks")
    if not problems and config is not None:
        problems = _configured_callbacks(config, callbacks)
    return text, problems


def _configured_callbacks(config: "Config", callbacks: Any) -> list[Problem]:
    """Check callbacks that a caller adds to one action by the rules of those in the file."""
    # Only with a configuration: whoever has one has imported these already.
    from pydantic import TypeAdapter, ValidationError  # noqa: PLC0415

    from switchyard.config.callbacks import Callback  # noqa: PLC0415
    from switchyard.config.crosscheck import check_callback  # noqa: PLC0415
    from switchyard.config.explain import explain  # noqa: PLC0415
    from switchyard.config.parts import parts_of  # noqa: PLC0415

    under = ("workflows", "submitted", "callbacks")
    try:
        read = TypeAdapter(tuple[Callback, ...]).validate_python(callbacks)
    except ValidationError as error:
        found = explain(error, {"workflows": {"submitted": {"callbacks": callbacks}}}, under)
        return [Problem(problem.path[2:], problem.message) for problem in found]
    parts = parts_of(config)
    checks = (check_callback(("callbacks", number), callback, parts) for number, callback in enumerate(read))
    return [problem for check in checks for problem in check]
