"""What every workflow needs before it is submitted: a definition, and an input that fits, in its place."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from switchyard.backends.threads import Threads
from switchyard.config.schemas import JsonSchema
from switchyard.config.workflows import Workflow
from switchyard.errors import StoreError
from switchyard.handlers import Failed, HandlerContext, Invalid, Outcome, Retry, Work
from switchyard.places import STORED, Places, parameters_key, told
from switchyard.store import Store


@dataclass(frozen=True, slots=True)
class Prepared:
    """Ready to be submitted."""

    workflow: Workflow
    places: Places
    told: dict[str, str]  # what the work has to know, by name
    parameters: Mapping[str, Any] = field(default_factory=dict)  # its input, wherever it was kept


async def prepare(work: Work, context: HandlerContext, threads: Threads) -> Prepared | Outcome:
    """Check the parameters and write `input.json`; an outcome where it cannot be submitted.

    Every attempt of a run writes the same bytes to the same key, so a repetition harms nothing.
    """
    workflow = context.config.workflows.get(work.workflow)
    if workflow is None:
        return Invalid(f"the configuration has no workflow {work.workflow!r}")
    places = Places(work.uuid, work.run)
    try:
        parameters = await threads.run(_parameters, work, context.store)
        if workflow.input_schema and (problem := _problem(workflow.input_schema, parameters)):
            return Invalid(f"the input does not fit {work.workflow}'s schema: {problem}")
        data = json.dumps(parameters, allow_nan=False).encode()
        await threads.run(context.store.put, places.input, data)
    except StoreError as error:
        kind = Retry if error.transient else Failed
        return kind(f"the input could not be stored: {error}")
    return Prepared(workflow, places, told(places, work.correlation_id, context.store.url_of), parameters)


def _parameters(work: Work, store: Store) -> dict[str, Any]:
    """The action's own, or those that were too large for the ledger."""
    if work.parameters != STORED:
        return dict(work.parameters)
    parameters: dict[str, Any] = json.loads(store.get(parameters_key(work.uuid)))
    return parameters


def _problem(schema: JsonSchema, parameters: dict[str, Any]) -> str | None:
    """What is wrong with the input, up to three things, in a line for people."""
    return "; ".join(map(str, islice(schema.problems(parameters), 3))) or None
