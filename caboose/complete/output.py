"""The output of an execution: read from the store within limits, checked against the workflow schema."""

import json
import threading
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from switchyard.config.schemas import JsonSchema
from switchyard.errors import StoreMissing, StoreTooLarge
from switchyard.places import Places
from switchyard.sources import Observation
from switchyard.status import Status
from switchyard.store import Store

# Outputs up to this size stay in memory until they are used; larger ones are read again, one at a time.
LARGE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Checked:
    """An end with its output. Its status may be worse than observed: an output can be unusable."""

    end: Observation
    output: Any = None
    large: bool = False  # there is an output, but it is not held here


class Outputs:
    """Reads and checks outputs. Blocking: called in a thread."""

    def __init__(self, store: Store, max_bytes: int) -> None:
        self._store = store
        self._max_bytes = max_bytes
        self._one_at_a_time = threading.Lock()

    def read(self, places: Places) -> Any:
        """The output, where there is one that can be used."""
        return self._read(places, self._max_bytes)[0]

    def check(self, seen: Observation, schema: JsonSchema | None) -> Checked:
        """The end with its output, if that is small; a success without a usable output becomes FAILED."""
        places = Places(seen.uuid, seen.run)
        output, problem = self._read(places, min(LARGE, self._max_bytes))
        large = (
            problem is not None and self._max_bytes > LARGE and (self._store.size(places.output) or 0) > LARGE
        )
        with self._one_at_a_time if large else nullcontext():
            if large:
                output, problem = self._read(places, self._max_bytes)
            if seen.status is Status.SUCCESSFUL:
                problem = problem or _misfit(output, schema)
                seen = _unusable(seen, problem) if problem else seen
            return Checked(seen, None if large or problem else output, large=large and not problem)

    def _read(self, places: Places, limit: int) -> tuple[Any, str | None]:
        """The output and what is wrong with it; that there is none is not wrong."""
        try:
            data = self._store.get(places.output, limit=limit)
            return json.loads(data, parse_constant=_no_constant), None
        except StoreMissing:
            return None, None
        except StoreTooLarge as error:
            return None, f"the output cannot be used: {error}"
        except (ValueError, RecursionError) as error:
            return None, f"the output cannot be used: {places.output} is not JSON: {error}"


def _misfit(output: Any, schema: JsonSchema | None) -> str | None:
    """Up to three problems that the workflow's schema has with the output."""
    if schema is None:
        return None
    found = "; ".join(map(str, islice(schema.problems(output), 3)))
    return f"the output does not fit its schema: {found}" if found else None


def _unusable(seen: Observation, problem: str) -> Observation:
    """It succeeded without a usable output: another run would end the same way."""
    detail: Mapping[str, Any] = {**seen.detail, "ended": str(seen.status)}
    return replace(seen, status=Status.FAILED, error=problem, fatal=True, detail=detail)


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")
