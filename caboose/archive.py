"""The archive of one execution: written once, before the ledger hears of the end, and read for its output."""

import asyncio
import json
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from caboose.metrics import CabooseMetrics
from caboose.source import Observation, Source
from switchyard.config.schemas import JsonSchema
from switchyard.errors import StoreMissing, StoreTooLarge
from switchyard.places import Places
from switchyard.status import Status
from switchyard.store import Store


@dataclass(frozen=True, slots=True)
class Archived:
    """An end that is safe in the store. Its status may be worse than observed: an output can be unusable."""

    observation: Observation
    output: Any = None


class Archive:
    """Puts executions into the store, and their outputs to use."""

    def __init__(self, store: Store, max_output: int, metrics: CabooseMetrics) -> None:
        self.store = store
        self._seconds = metrics.archive_seconds
        self._max_output = max_output

    async def keep(self, source: Source, seen: Observation, schema: JsonSchema | None) -> Archived:
        """Write what there is, then read and check the output. Raises StoreError where it cannot be kept."""
        with self._seconds.time():
            log = await source.log(seen)
            await asyncio.to_thread(self._write, seen, log)
        output, problem = await asyncio.to_thread(self._output, Places(seen.uuid, seen.run))
        if seen.status is not Status.SUCCESSFUL:
            return Archived(seen, output)
        problem = problem or _misfit(output, schema)
        return Archived(_spoilt(seen, problem), None) if problem else Archived(seen, output)

    async def output_of(self, places: Places) -> Any:
        """The output, where there is one that can be used: for ends that somebody else wrote."""
        return (await asyncio.to_thread(self._output, places))[0]

    def _write(self, seen: Observation, log: bytes | None) -> None:
        places = Places(seen.uuid, seen.run)
        if log is not None:
            self.store.put(places.log, log, if_absent=True)
        if seen.output is not None:
            self.store.put(places.output, json.dumps(dict(seen.output)).encode(), if_absent=True)
        if seen.record is not None:
            self.store.put(places.workflow, seen.record, if_absent=True)

    def _output(self, places: Places) -> tuple[Any, str | None]:
        """The output and what is wrong with it; nothing is wrong with none."""
        try:
            data = self.store.get(places.output, limit=self._max_output)
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
    return replace(seen, status=Status.FAILED, error=problem, fatal=True)


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")
