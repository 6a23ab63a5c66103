"""Inserts the callbacks of recorded ends, inside the transaction that records them.

`callbacks_made` gives a thread's callbacks to exactly one transaction, ever: ours, or that of whoever
recorded another end. A crash before the commit leaves nothing, a replay after it finds the flag cleared,
and because a callback's uuid is derived from its end, even a second insert would change nothing.
"""

import asyncio
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any
from uuid import UUID

from caboose.complete.plan import plan
from caboose.queries import Queries
from caboose.rows import Ended, Event, Planned
from switchyard.config.callbacks import Callback
from switchyard.config.config import Config
from switchyard.places import STORED, parameters_key
from switchyard.process import tracing
from switchyard.status import Status
from switchyard.store import Store

Pair = tuple[Ended, Planned]
Run = tuple[UUID, int]

CHUNK = 500
# The ledger's limit is 1 MiB of binary JSON, which can be seven times its text (a list of small numbers).
LARGEST_CHAINED = 128 * 1024
TOO_LARGE = "its parameters are larger than the 1 MiB that an action may have"


class Callbacks:
    """The callbacks that the configuration, or the action itself, has for an end."""

    def __init__(self, config: Config, store: Store) -> None:
        self._workflows = config.workflows
        self._store = store

    async def insert(
        self, queries: Queries, runs: Mapping[UUID, int], outputs: Mapping[Run, Any]
    ) -> list[UUID]:
        """Inside a transaction: insert the callbacks that are due, in chunks; returns whose they were."""
        ours = await queries.callbacks_made(runs)
        if not ours:
            return []
        ends = await queries.ended(sorted(ours))
        for chunk in _chunks(self._planned(ends, outputs)):
            await _insert(queries, [(ended, await self._by_reference(each)) for ended, each in chunk])
        return list(ours)

    def _planned(self, ends: Sequence[Ended], outputs: Mapping[Run, Any]) -> Iterator[Pair]:
        """All callbacks of these ends, one action at a time; an output belongs to one run only."""
        for ended in ends:
            for planned in plan(ended, self._configured(ended), outputs.get((ended.uuid, ended.run))):
                yield ended, planned

    async def _by_reference(self, planned: Planned) -> Planned:
        """A chained workflow may be given more than an action can hold: then the store holds it."""
        if planned.workflow is None:
            return planned
        data = json.dumps(planned.parameters).encode()
        if len(data) <= LARGEST_CHAINED:
            return planned
        await asyncio.to_thread(self._store.put, parameters_key(planned.uuid), data)
        return replace(planned, parameters=STORED)

    def _configured(self, ended: Ended) -> Sequence[Callback]:
        workflow = self._workflows.get(ended.workflow) if ended.workflow else None
        return workflow.callbacks if workflow else ()


async def _insert(queries: Queries, pairs: Sequence[Pair]) -> None:
    """Insert a chunk; an action that can never run ends INVALID at once, so that a person sees it."""
    began = time.monotonic()
    inserted = await queries.insert_callbacks(pairs)
    for ended, planned in pairs:
        if planned.uuid in inserted:  # should this roll back, the next try names the same span
            _trace(ended, planned, time.monotonic() - began)
    reasons = {planned.uuid: planned.invalid for _, planned in pairs}
    invalid = {uuid: reasons[uuid] or (None if fits else TOO_LARGE) for uuid, fits in inserted.items()}
    events = [Event(uuid, 1, Status.INVALID, reason) for uuid, reason in invalid.items() if reason]
    await queries.insert_events(events)


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


def _chunks(pairs: Iterator[Pair]) -> Iterator[list[Pair]]:
    while chunk := list(islice(pairs, CHUNK)):
        yield chunk
