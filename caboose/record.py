"""One transaction that ends executions: the events, then the callbacks of the ends that stand.

Inserting the events locks their threads (the ledger's trigger does, in uuid order) until the commit, so
what is read afterwards stays true. `callbacks_made` gives a thread's callbacks to exactly one transaction,
ever: ours, or that of whoever wrote another end. A crash before the commit leaves nothing, a replay after
it finds the flag cleared, and the callbacks' uuids would make even a second insert change nothing.
"""

import asyncio
import json
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any
from uuid import UUID

from caboose.archive import Archived
from caboose.callbacks import Ended, Planned, plan
from caboose.ledger import Event, Ledger, Thread
from caboose.retry import again_in
from switchyard.config.config import Config
from switchyard.errors import Transient
from switchyard.places import STORED, Places, parameters_key
from switchyard.process import tracing
from switchyard.status import Status
from switchyard.store import Store

Pair = tuple[Ended, Planned]

CHUNK = 500
# The ledger's limit is 1 MiB of binary JSON, which can be seven times its text (a list of small numbers).
LARGEST_CHAINED = 128 * 1024
TOO_LARGE = "its parameters are larger than the 1 MiB that an action may have"


class NotInCharge(Transient):
    """The lease was lost meanwhile: whoever has it now does the work."""

    def __init__(self) -> None:
        super().__init__("another caboose may hold the lease by now: nothing was recorded")


@dataclass(frozen=True, slots=True)
class End:
    """An archived end and the thread it belongs to."""

    archived: Archived
    thread: Thread


class Recorder:
    """Writes ends and makes callbacks, as the configuration has them."""

    def __init__(self, config: Config, store: Store, chance: random.Random) -> None:
        self._config = config
        self._store = store
        self._chance = chance

    async def record(self, ledger: Ledger, ends: Sequence[End], in_charge: Callable[[], bool]) -> None:
        """All ends in one transaction: events, retries, callbacks; none once another is in charge."""
        began = time.monotonic()
        retries = {end.thread.action_uuid: event for end in ends if (event := self._retry(end))}
        async with ledger.transaction():
            await ledger.insert_events([_event(end, retried=_uuid(end) in retries) for end in ends])
            if retries:
                still = await ledger.open_at({uuid: event.run - 1 for uuid, event in retries.items()})
                await ledger.insert_events([event for uuid, event in retries.items() if uuid in still])
            outputs = {_uuid(end): end.archived.output for end in ends}
            await self.call_back(ledger, {_uuid(end): end.thread.run for end in ends}, outputs)
            if not in_charge():
                raise NotInCharge
        for end in ends:
            _trace_end(end, time.monotonic() - began)

    async def call_back(
        self, ledger: Ledger, runs: Mapping[UUID, int], outputs: Mapping[UUID, Any]
    ) -> list[UUID]:
        """Inside a transaction: insert the callbacks that are due, in chunks; returns whose they were."""
        ours = await ledger.callbacks_made(runs)
        if not ours:
            return []
        ends = await ledger.ended(sorted(ours))
        for chunk in _chunks(self._planned(ends, outputs), CHUNK):
            await _insert(ledger, [(ended, await self._by_reference(each)) for ended, each in chunk])
        return list(ours)

    def _planned(self, ends: Sequence[Ended], outputs: Mapping[UUID, Any]) -> Iterator[Pair]:
        """All that follows these ends, one action at a time."""
        for ended in ends:
            for planned in plan(ended, self._configured(ended), outputs.get(ended.uuid)):
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

    def _configured(self, ended: Ended) -> Sequence[Any]:
        workflow = self._config.workflows.get(ended.workflow) if ended.workflow else None
        return workflow.callbacks if workflow else ()

    def _retry(self, end: End) -> Event | None:
        """The event that opens the next run, where the workflow's policy has one for this failure."""
        seen, thread = end.archived.observation, end.thread
        workflow = self._config.workflows.get(thread.workflow or "")
        if (
            workflow is None
            or seen.status is not Status.FAILED
            or thread.status.ended
            or seen.run != thread.run
        ):
            return None
        wait = again_in(workflow.retry, thread.tries, fatal=seen.fatal, chance=self._chance)
        if wait is None:
            return None
        note = f"run {seen.run} failed; the next starts in {wait:.0f} s"
        return Event(seen.uuid, seen.run + 1, Status.BACKOFF, seen.error, round(wait, 3), {"note": note})


def _event(end: End, *, retried: bool) -> Event:
    """The end itself; the failure of a run that is followed by another is no end, and told as INFO."""
    seen = end.archived.observation
    assert seen.status is not None, "only ends are recorded"
    detail: dict[str, Any] = {**seen.detail, "archive": Places(seen.uuid, seen.run).folder}
    if seen.exit_code is not None:
        detail["exit_code"] = seen.exit_code
    if seen.fatal:
        detail["fatal"] = True
    if retried:
        return Event(
            seen.uuid, seen.run, Status.INFO, seen.error, None, {**detail, "ended": str(seen.status)}
        )
    return Event(seen.uuid, seen.run, seen.status, seen.error, None, detail)


async def _insert(ledger: Ledger, pairs: Sequence[Pair]) -> None:
    """Insert a chunk; what can never run ends INVALID at once, so that it is seen."""
    began = time.monotonic()
    inserted = await ledger.insert_callbacks(pairs)
    for ended, planned in pairs:
        if planned.uuid in inserted:  # should this roll back, the next try names the same span
            _trace_submit(ended, planned, time.monotonic() - began)
    reasons = {planned.uuid: planned.invalid for _, planned in pairs}
    invalid = {uuid: reasons[uuid] or (None if fits else TOO_LARGE) for uuid, fits in inserted.items()}
    events = [Event(uuid, 1, Status.INVALID, reason) for uuid, reason in invalid.items() if reason]
    await ledger.insert_events(events)


def _trace_end(end: End, seconds: float) -> None:
    tracing.mark(
        "outcome",
        seconds=seconds,
        action_uuid=end.thread.action_uuid,
        correlation_id=end.thread.correlation_id,
        run=end.archived.observation.run,
        status=str(end.archived.observation.status),
    )


def _trace_submit(ended: Ended, planned: Planned, seconds: float) -> None:
    tracing.mark(
        "submit",
        seconds=seconds,
        action_uuid=planned.uuid,
        correlation_id=ended.correlation_id,
        parent_uuid=ended.uuid,
        action=planned.action_name,
        callback=planned.callback,
    )


def _chunks(pairs: Iterator[Pair], size: int) -> Iterator[list[Pair]]:
    while chunk := list(islice(pairs, size)):
        yield chunk


def _uuid(end: End) -> UUID:
    return end.thread.action_uuid
