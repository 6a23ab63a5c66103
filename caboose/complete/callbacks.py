"""Inserts the callbacks of recorded ends, inside the transaction that records them.

`callbacks_made` assigns a thread's callbacks to exactly one transaction: ours, or that of whatever process
recorded another end. A crash before the commit leaves nothing, a replay after it finds the flag cleared,
and because a callback's uuid is derived from its end, even a second insert would change nothing.

The number and total size of an end's callbacks are limited: an action of 100 KB could
otherwise produce gigabytes. Callbacks beyond a limit become one INVALID action, which the inbox shows.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from caboose.complete.paths import find, is_cheap
from caboose.complete.plan import Candidate, document_of, invalid, own_callbacks, plan
from caboose.complete.size import Sizes
from caboose.queries import Queries
from caboose.rows import Ended, Event, Planned
from switchyard.config.callbacks import Callback
from switchyard.config.config import Config
from switchyard.ledger.jsonb import LARGEST
from switchyard.places import STORED, parameters_key
from switchyard.process import tracing
from switchyard.process.bounded.pool import Pool
from switchyard.status import Status
from switchyard.store import Store

Pair = tuple[Ended, Planned]
Run = tuple[UUID, int]

CHUNK = 500
CHUNK_BYTES = 4 * 2**20
# The ledger's limit is 1 MiB of binary JSON, which can be seven times its text (a list of small numbers).
LARGEST_CHAINED = 128 * 1024
TOO_LARGE = "its parameters are larger than the 1 MiB that an action may have"


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits on the callbacks of one end."""

    most: int
    largest: int  # bytes, of all of them
    seconds: float  # CPU time for their JSONPaths


# An action's own callbacks are a stranger's.
OWN = Limits(1_000, 8 * 2**20, 0.5)


class Callbacks:
    """The callbacks that the configuration, or the action itself, has for an end."""

    def __init__(self, config: Config, store: Store, pool: Pool) -> None:
        self._workflows = config.workflows
        self._configured = Limits(config.caboose.max_callbacks, config.caboose.max_callback_bytes, 5.0)
        self._store = store
        self._pool = pool

    def knows(self, workflow: str | None) -> bool:
        """Whether the workflow is configured; callbacks of unknown workflows stay due until it is."""
        return workflow is None or workflow in self._workflows

    @property
    def workflows(self) -> Sequence[str]:
        """The configured workflows."""
        return list(self._workflows)

    async def insert(
        self, queries: Queries, runs: Mapping[UUID, int], outputs: Mapping[Run, Any]
    ) -> list[UUID]:
        """Insert due callbacks in chunks, inside a transaction; returns the threads they belong to."""
        ours = await queries.callbacks_made(runs)
        if not ours:
            return []
        chunk: list[Pair] = []
        size = 0
        for ended in await queries.ended(sorted(ours)):
            async for planned in self._planned(queries, ended, outputs.get((ended.uuid, ended.run))):
                each = await self._by_reference(planned)
                chunk.append((ended, each))
                size += each.size
                if len(chunk) == CHUNK or size >= CHUNK_BYTES:
                    await _insert(queries, chunk)
                    chunk, size = [], 0
        await _insert(queries, chunk)
        return list(ours)

    async def _planned(self, queries: Queries, ended: Ended, output: Any) -> AsyncIterator[Planned]:
        """The planned callbacks of an end, one action at a time."""
        configured = [Candidate("configured", each) for each in await self._callbacks_of(queries, ended)]
        own, unreadable = own_callbacks(ended)
        try:
            document = document_of(ended, output)
        except (ValueError, RecursionError) as error:
            reason = f"the parameters of {ended.uuid} cannot be read: {error}"
            unreadable += [invalid(ended, each.origin, reason, each.callback) for each in (*configured, *own)]
            configured, own = [], []
            document = {}
        for candidates, limits in ((configured, self._configured), (own, OWN)):
            evaluated = await self._evaluated(ended, candidates, document, limits.seconds)
            for planned in _limited(plan(ended, evaluated, document), limits):
                yield planned
        for planned in unreadable:
            yield planned

    async def _evaluated(
        self, ended: Ended, candidates: Sequence[Candidate], document: dict[str, Any], seconds: float
    ) -> list[Candidate]:
        """The callbacks, with matches from the pool for JSONPaths that may take long."""
        apply = (each for each in candidates if ended.status in each.callback.ends)
        slow = [each for each in apply if not is_cheap(each.callback)]
        if not slow:
            return list(candidates)
        found = await find(
            self._pool,
            [each.callback for each in slow],
            document,
            seconds=seconds,
            group=ended.action_name,
        )
        matches = {id(each): answer for each, answer in zip(slow, found, strict=True)}
        return [replace(each, found=matches.get(id(each))) for each in candidates]

    async def _by_reference(self, planned: Planned) -> Planned:
        """Store parameters of a chained workflow that are too large for an action, and pass a reference."""
        if planned.workflow is None:
            return planned
        data = json.dumps(planned.parameters).encode()
        if len(data) <= LARGEST_CHAINED:
            return planned
        await asyncio.to_thread(self._store.put, parameters_key(planned.uuid), data)
        return replace(planned, parameters=STORED, size=0)

    async def _callbacks_of(self, queries: Queries, ended: Ended) -> Sequence[Callback]:
        """The callbacks of its workflow, if it really ran: a submission may name it with another action."""
        workflow = self._workflows.get(ended.workflow or "")
        if workflow is None or workflow.action == ended.action_name:
            return workflow.callbacks if workflow else ()
        reason = (
            f"the callbacks of workflow {ended.workflow} were not made: "
            f"it runs as {workflow.action}, and action {ended.uuid} as {ended.action_name}"
        )
        await queries.report("callbacks", ended.workflow or "", reason, ended.action_name, {})
        return ()


def _limited(planned: Iterator[Planned], limits: Limits) -> Iterator[Planned]:
    """The callbacks up to the limits; one that exceeds a limit becomes INVALID and is the last."""
    sizes, total = Sizes(), 0
    for number, each in enumerate(planned):
        size = sum(len(key) + 4 + sizes.of(value, limits.largest) for key, value in each.parameters.items())
        if each.workflow is None and size > LARGEST:
            yield replace(each, parameters={}, invalid=TOO_LARGE)
            continue
        total += size
        if number >= limits.most or total > limits.largest:
            reason = f"there are more than {limits.most} callbacks, or {limits.largest} bytes of them"
            yield replace(each, parameters={}, invalid=f"the callbacks from here on were not made: {reason}")
            return
        yield replace(each, size=size)


async def _insert(queries: Queries, pairs: Sequence[Pair]) -> None:
    """Insert a chunk; an action that can never run ends INVALID at once and is shown in the inbox."""
    if not pairs:
        return
    began = time.monotonic()
    inserted = await queries.insert_callbacks(pairs)
    for ended, planned in pairs:
        if planned.uuid in inserted:  # should this roll back, the next try names the same span
            _trace(ended, planned, time.monotonic() - began)
    await queries.insert_events(list(_invalid(pairs, inserted)))


def _invalid(pairs: Iterable[Pair], inserted: Mapping[UUID, bool]) -> Iterator[Event]:
    for _, planned in pairs:
        if planned.uuid in inserted:
            reason = planned.invalid or (None if inserted[planned.uuid] else TOO_LARGE)
            if reason:
                yield Event(planned.uuid, 1, Status.INVALID, reason)


def _trace(ended: Ended, planned: Planned, seconds: float) -> None:
    tracing.mark(
        "submit",
        seconds=seconds,
        action_uuid=planned.uuid,
        correlation_id=ended.correlation_id,
        parent_uuid=ended.uuid,
        action=planned.action_name,
        callback=planned.callback,
    )
