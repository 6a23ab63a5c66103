"""Prepares a workflow before it is started: finds its definition, checks its input and stores it."""

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from switchyard.backends.carry_over import carry_over
from switchyard.backends.inputs import INPUTS, with_inputs
from switchyard.backends.threads import Threads
from switchyard.config.problems import Problem
from switchyard.config.schemas import JsonSchema
from switchyard.config.workflows import Workflow
from switchyard.errors import BadInput, PoolUnavailable, StoreError, StoreMissing, StoreTooLarge
from switchyard.handlers import Failed, HandlerContext, Invalid, Outcome, Retry, Work
from switchyard.places import STORED, Places, parameters_key, variables
from switchyard.process import evaluate
from switchyard.process.shared_pool import shared_pool
from switchyard.store import Store

SMALL = 8 * 1024  # bytes of JSON that a cheap schema checks in less time than another process takes to answer
PROBLEMS = 3


@dataclass(frozen=True, slots=True)
class PreparedWorkflow:
    """Ready to be submitted."""

    workflow: Workflow
    places: Places
    variables: dict[str, str]  # what the program receives, by name
    parameters: Mapping[str, Any] = field(default_factory=dict)  # its input, wherever it was stored


async def prepare(work: Work, context: HandlerContext, threads: Threads) -> PreparedWorkflow | Outcome:
    """Check the parameters and write `input.json`; an outcome where it cannot be submitted.

    Every attempt of a run writes the same bytes to the same key, so a repetition harms nothing.
    """
    workflow = context.config.workflows.get(work.workflow)
    if workflow is None:
        return Invalid(f"the configuration has no workflow {work.workflow!r}")
    places = Places(work.uuid, work.run)
    try:
        parameters = await threads.run(_parameters, work, context.store)
        if INPUTS in parameters:
            parameters = await with_inputs(parameters, context.store, threads, work.action_name)
        data = await threads.run(_json, parameters)
        if workflow.input_schema:
            problem = await _problem(workflow.input_schema, parameters, data, work.action_name)
            if problem:
                return Invalid(f"the input does not fit {work.workflow}'s schema: {problem}")
        await threads.run(context.store.put, places.input, data)
        if work.resumes:
            await threads.run(_checkpoints, context.store, places)
    except StoreError as error:
        # A store that is read-only or refuses us is repaired by a person; what cannot be stored stays so.
        kind = Failed if isinstance(error, BadInput | StoreMissing) else Retry
        return kind(f"the input could not be stored: {error}")
    except BadInput as error:
        return Invalid(str(error))
    except PoolUnavailable as error:
        return Retry(f"the input could not be checked: {error}", sent=False)
    known = variables(places, work.correlation_id, context.store.url_of)
    return PreparedWorkflow(workflow, places, known, parameters)


def _checkpoints(store: Store, places: Places) -> None:
    """Those of the run before; where they are too many, this run starts without them."""
    with contextlib.suppress(StoreTooLarge):
        carry_over(store, places, everything=False)


def _parameters(work: Work, store: Store) -> dict[str, Any]:
    """The action's own, or those that were too large for the ledger."""
    if work.parameters != STORED:
        return dict(work.parameters)
    stored: dict[str, Any] = json.loads(store.get(parameters_key(work.uuid)))
    stored.pop(INPUTS, None)
    return stored


def _json(parameters: dict[str, Any]) -> bytes:
    return json.dumps(parameters, allow_nan=False).encode()


async def _problem(schema: JsonSchema, parameters: dict[str, Any], data: bytes, group: str) -> str | None:
    """What is wrong with the input, in a line for people.

    A submitter chooses the input, and with it the cost of the check, which may be quadratic or worse: only
    what is surely cheap is checked in this process.
    """
    if len(data) <= SMALL and schema.cheap:
        found = [*islice(schema.problems(parameters), PROBLEMS)]
    else:
        try:
            problems = await shared_pool().run(
                evaluate.schema_problems, schema.text, data, PROBLEMS, group=group
            )
        except BadInput as error:  # it exceeds a limit, or cannot be evaluated
            return str(error)
        found = [Problem(tuple(path), message) for path, message in problems]
    return "; ".join(map(str, found)) or None
