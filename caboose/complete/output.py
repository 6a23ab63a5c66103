"""The output of an execution: read from the store within limits, checked against the workflow schema.

Outputs are untrusted. One that is not small, or has a schema, is parsed and checked in a bounded process
first: an output that takes too much time or memory there is unusable, and its execution becomes FAILED.
"""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from switchyard.config.problems import Problem
from switchyard.config.schemas import JsonSchema
from switchyard.errors import EvaluationFailed, LimitExceeded, StoreMissing, StoreTooLarge
from switchyard.places import Places
from switchyard.process import evaluate
from switchyard.process.bounded.pool import Pool
from switchyard.sources import Observation
from switchyard.status import Status
from switchyard.store import Store

# Outputs up to this size are parsed in place.
LITTLE = 64 * 1024
# Outputs up to this size stay in memory until they are used; larger ones are read again, one at a time.
LARGE = 1024 * 1024
MEMORY = 256 * 2**20
_TOO_LARGE = object()


@dataclass(frozen=True, slots=True)
class Checked:
    """An end with its output. Its status may be worse than observed: an output can be unusable."""

    end: Observation
    output: Any = None
    large: bool = False  # there is an output, but it is not held here


class Outputs:
    """Reads and checks outputs."""

    def __init__(self, store: Store, max_bytes: int, pool: Pool) -> None:
        self._store = store
        self._max_bytes = max_bytes
        self._pool = pool
        self._one_at_a_time = asyncio.Lock()

    async def read(self, places: Places) -> Any:
        """The output, if there is a usable one."""
        return (await self._parsed(places, None, self._max_bytes))[0]

    async def check(self, seen: Observation, schema: JsonSchema | None) -> Checked:
        """The end with its output, if that is small; a success without a usable output becomes FAILED."""
        places = Places(seen.uuid, seen.run)
        used = schema if seen.status is Status.SUCCESSFUL else None
        output, problem = await self._parsed(places, used, min(LARGE, self._max_bytes))
        large = output is _TOO_LARGE
        if large:
            async with self._one_at_a_time:
                output, problem = await self._parsed(places, used, self._max_bytes)
        if problem and seen.status is Status.SUCCESSFUL:
            seen = _unusable(seen, problem)
        return Checked(seen, None if large or problem else output, large=large and not problem)

    async def _parsed(self, places: Places, schema: JsonSchema | None, limit: int) -> tuple[Any, str | None]:
        """The output, and what is wrong with it; whether it may be missing is up to its schema."""
        try:
            data = await asyncio.to_thread(self._store.get, places.output, limit=limit)
        except StoreMissing:
            data = b"null"
        except StoreTooLarge as error:
            smaller = limit < self._max_bytes
            return (_TOO_LARGE, None) if smaller else (None, f"the output cannot be used: {error}")
        problem = await self._problem(data, schema)
        if problem:
            return None, problem
        try:
            return json.loads(data, parse_constant=_no_constant), None
        except (ValueError, RecursionError) as error:
            return None, f"the output cannot be used: {places.output} is not JSON: {error}"

    async def _problem(self, data: bytes, schema: JsonSchema | None) -> str | None:
        """The problem that a bounded process finds, if any."""
        if schema is None and len(data) <= LITTLE:
            return None
        text = json.dumps(True if schema is None else schema.document)
        try:
            found = await self._pool.run(
                *(evaluate.schema_problems, text, data, 3),
                seconds=2.0 + len(data) / 5e6,
                memory=max(MEMORY, 24 * len(data)),
                group="output",
            )
        except LimitExceeded as error:
            return f"the output cannot be used: {error}"
        except EvaluationFailed as error:
            return f"the output cannot be used: it is not JSON: {error.message}"
        shown = "; ".join(str(Problem(tuple(path), message)) for path, message in found)
        return f"the output does not fit its schema: {shown}" if shown else None


def _unusable(seen: Observation, problem: str) -> Observation:
    """A fatal failure: it succeeded without a usable output, and another run would end the same way."""
    detail: Mapping[str, Any] = {**seen.detail, "ended": str(seen.status)}
    return replace(seen, status=Status.FAILED, error=problem, fatal=True, detail=detail)


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")
