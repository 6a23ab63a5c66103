"""The archive of one execution: written once, before the ledger hears of the end, and read for its output."""

import asyncio
import json
import threading
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from caboose.metrics import CabooseMetrics
from switchyard.config.schemas import JsonSchema
from switchyard.errors import StoreMissing, StoreTooLarge
from switchyard.places import Places
from switchyard.sources import Observation, Source
from switchyard.status import Status
from switchyard.store import Store

# Outputs up to this size are kept in memory until they are used; larger ones are read again, one at a time.
LARGE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Archived:
    """An end that is safe in the store. Its status may be worse than observed: an output can be unusable."""

    observation: Observation
    output: Any = None
    large: bool = False  # there is an output, but not here


class Archive:
    """Puts executions into the store, and their outputs to use."""

    def __init__(self, store: Store, max_output: int, metrics: CabooseMetrics) -> None:
        self.store = store
        self._seconds = metrics.archive_seconds
        self._one_at_a_time = threading.Lock()
        self._max_output = max_output

    async def keep(self, source: Source, seen: Observation, schema: JsonSchema | None) -> Archived:
        """Write what there is, then read and check the output. Raises StoreError where it cannot be kept."""
        with self._seconds.time():
            log = await source.log(seen)
            await asyncio.to_thread(self._write, seen, log)
        return await asyncio.to_thread(self._checked, seen, schema)

    async def output_of(self, places: Places) -> Any:
        """The output, where one can be used: a large one, or that of an end somebody else wrote."""
        return (await asyncio.to_thread(self._output, places, self._max_output))[0]

    def _checked(self, seen: Observation, schema: JsonSchema | None) -> Archived:
        """With its output, if that is small; what succeeded and left nothing usable has failed."""
        places = Places(seen.uuid, seen.run)
        output, problem = self._output(places, min(LARGE, self._max_output))
        large = (
            problem is not None and self._max_output > LARGE and (self.store.size(places.output) or 0) > LARGE
        )
        with self._one_at_a_time if large else nullcontext():
            if large:
                output, problem = self._output(places, self._max_output)
            if seen.status is Status.SUCCESSFUL:
                problem = problem or _misfit(output, schema)
                seen = _spoilt(seen, problem) if problem else seen
            return Archived(seen, None if large or problem else output, large=large and not problem)

    def _write(self, seen: Observation, log: bytes | None) -> None:
        places = Places(seen.uuid, seen.run)
        if log is not None:
            self.store.put(places.log, log, if_absent=True)
        if seen.output is not None:
            self.store.put(places.output, json.dumps(dict(seen.output)).encode(), if_absent=True)
        if seen.record is not None:
            self.store.put(places.workflow, seen.record, if_absent=True)

    def _output(self, places: Places, limit: int) -> tuple[Any, str | None]:
        """The output and what is wrong with it; nothing is wrong with none."""
        try:
            data = self.store.get(places.output, limit=limit)
            return json.loads(data, parse_constant=_no_constant), None
        except StoreMissing:
            return None, None
        except StoreTooLarge as error:
            return None, f"the output cannot be used: {error}"
        except (ValueError, RecursionError) as error:
            return None, f"the output cannot be used: {places.output} is not JSON: {error}"


def _misfit(output: Any, schema: JsonSchema | None) -> str | None:
    """What the workflow's schema says against the output, up to three things."""
    if schema is None:
        return None
    found = "; ".join(map(str, islice(schema.problems(output), 3)))
    return f"the output does not fit its schema: {found}" if found else None


def _spoilt(seen: Observation, problem: str) -> Observation:
    """It succeeded and left nothing usable: trying again would end the same way."""
    detail = {**seen.detail, "ended": str(seen.status)}
    return replace(seen, status=Status.FAILED, error=problem, fatal=True, detail=detail)


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")
