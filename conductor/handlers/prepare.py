"""What every workflow needs before it is submitted: a definition, and an input that fits, in its place."""

import asyncio
import json
from dataclasses import dataclass
from itertools import islice

from conductor.handler import HandlerContext, Work
from switchyard.config.schemas import JsonSchema
from switchyard.config.workflows import Workflow
from switchyard.errors import StoreError
from switchyard.outcome import Failed, Invalid, Outcome, Retry
from switchyard.places import Places, told


@dataclass(frozen=True, slots=True)
class Prepared:
    """Ready to be submitted."""

    workflow: Workflow
    places: Places
    told: dict[str, str]  # what the work has to know, by name


async def prepare(work: Work, context: HandlerContext) -> Prepared | Outcome:
    """Check the parameters and write `input.json`; an outcome where it cannot be submitted.

    Every attempt of a run writes the same bytes to the same key, so a repetition harms nothing.
    """
    workflow = context.config.workflows.get(work.workflow)
    if workflow is None:
        return Invalid(f"the configuration has no workflow {work.workflow!r}")
    if workflow.input_schema and (problem := _problem(workflow.input_schema, work)):
        return Invalid(problem)
    places = Places(work.uuid, work.run)
    try:
        data = json.dumps(dict(work.parameters), allow_nan=False).encode()
        await asyncio.to_thread(context.store.put, places.input, data)
    except StoreError as error:
        kind = Retry if error.transient else Failed
        return kind(f"the input could not be stored: {error}")
    return Prepared(workflow, places, told(places, work.correlation_id, context.store.url_of))


def _problem(schema: JsonSchema, work: Work) -> str | None:
    """What is wrong with the input, up to three things, in a line for people."""
    found = "; ".join(map(str, islice(schema.problems(dict(work.parameters)), 3)))
    return f"the input does not fit {work.workflow}'s schema: {found}" if found else None
