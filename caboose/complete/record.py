"""One transaction that ends executions: the events, the retries, then the callbacks.

Inserting the events locks their threads (the ledger's trigger does, in uuid order) until the commit, so
what is read afterwards stays true.
"""

import random
import time
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from caboose.case import Case
from caboose.complete.callbacks import Callbacks
from caboose.complete.retry import next_run_in
from caboose.queries import Queries
from caboose.rows import Event
from switchyard.config.config import Config
from switchyard.places import Places
from switchyard.process import tracing
from switchyard.status import Status


class Recorder:
    """Records archived ends, with the retries and callbacks that the configuration has for them."""

    def __init__(self, config: Config, callbacks: Callbacks, chance: random.Random) -> None:
        self._workflows = config.workflows
        self._callbacks = callbacks
        self._chance = chance

    async def record(
        self, queries: Queries, cases: Sequence[Case], check_leadership: Callable[[], None]
    ) -> None:
        """Record all ends in one transaction, which rolls back if another caboose leads by now."""
        began = time.monotonic()
        retries = {_uuid(case): event for case in cases if (event := self._retry(case))}
        async with queries.transaction():
            await queries.insert_events([_event(case, retried=_uuid(case) in retries) for case in cases])
            if retries:
                still = await queries.open_at({uuid: event.run - 1 for uuid, event in retries.items()})
                await queries.insert_events([event for uuid, event in retries.items() if uuid in still])
            outputs = {(_uuid(case), case.archived.run): case.output for case in cases}
            due = {_uuid(case): case.known_thread.run for case in cases if self._has_callbacks(case)}
            await self._callbacks.insert(queries, due, outputs)
            check_leadership()
        for case in cases:
            _trace(case, time.monotonic() - began)

    def _has_callbacks(self, case: Case) -> bool:
        """Whether its callbacks can be planned; those of an unknown workflow stay due until it is known."""
        return self._callbacks.knows(case.known_thread.workflow)

    def _retry(self, case: Case) -> Event | None:
        """The event that opens the next run, if the workflow's retry policy allows one."""
        end, thread = case.archived, case.known_thread
        workflow = self._workflows.get(thread.workflow or "")
        open_run = not thread.status.ended and end.run == thread.run
        if workflow is None or end.status is not Status.FAILED or not open_run:
            return None
        wait = next_run_in(workflow.retry, thread.tries, fatal=end.fatal, chance=self._chance)
        if wait is None:
            return None
        note = f"run {end.run} failed; the next starts in {wait:.0f} s"
        return Event(end.uuid, end.run + 1, Status.BACKOFF, end.error, round(wait, 3), {"note": note})


def _event(case: Case, *, retried: bool) -> Event:
    """The event of an end; the failure of a run that is retried is recorded as INFO."""
    end = case.archived
    assert end.status is not None, "only ends are recorded"
    detail: dict[str, Any] = {**end.detail, "archive": Places(end.uuid, end.run).folder}
    if end.exit_code is not None:
        detail["exit_code"] = end.exit_code
    if end.fatal:
        detail["fatal"] = True
    if retried:
        return Event(end.uuid, end.run, Status.INFO, end.error, None, {**detail, "ended": str(end.status)})
    return Event(end.uuid, end.run, end.status, end.error, None, detail)


def _trace(case: Case, seconds: float) -> None:
    tracing.mark(
        "outcome",
        seconds=seconds,
        action_uuid=case.known_thread.action_uuid,
        correlation_id=case.known_thread.correlation_id,
        run=case.archived.run,
        status=str(case.archived.status),
    )


def _uuid(case: Case) -> UUID:
    return case.known_thread.action_uuid
