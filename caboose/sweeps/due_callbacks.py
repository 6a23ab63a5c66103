"""The sweep for ends that others recorded: a cancel, INVALID at submission, a plain SQL insert.

`callbacks_due` is durable: until it is cleared, in the transaction that inserts the callbacks, this
sweep returns to the end. Before that it asks the backend to stop an execution that may still run.

Each pass pages through all due ends. An end that fails is reported in the inbox and skipped for a
while; a source that does not answer is skipped for the rest of the pass; a locked row is
skipped, together with all other locked rows, which one statement finds. Other ends are processed.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from caboose.complete.services import Services
from caboose.inbox import Inbox
from caboose.isolate import NOT_ABOUT_A_CASE, answered
from caboose.observe.stop import stopped
from caboose.queries import START, Page, Queries
from caboose.rows import Due
from caboose.scope import Scope
from caboose.session import RowBusy
from switchyard.errors import Transient
from switchyard.places import Places
from switchyard.process.log import bound, get_logger

log = get_logger(__name__)

FAILED_AGAIN = 60.0
REMEMBERED = 10_000
UNKNOWN_EVERY = 60.0
AT_ONCE = 20.0  # seconds of one turn: a loop must not look stuck


class DueCallbacks:
    """The loop that inserts due callbacks."""

    name = "due callbacks"

    def __init__(
        self,
        queries: Queries,
        scope: Scope,
        services: Services,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._queries = queries
        self._scope = scope
        self._services = services
        self._inbox = Inbox(queries, services.metrics)
        self._clock = clock
        self._failed: dict[tuple[UUID, int], float] = {}  # until when each is left out
        self._looked_for_unknown = float("-inf")
        self._after = START  # how far this pass is
        self._found = (
            False  # in this pass: an end with callbacks notifies, but not one that had to be left out
        )
        self._unanswered: set[str] = set()  # action names of sources that did not answer in this pass

    async def run_once(self) -> float | None:
        """Process one page; a full page is followed by the next at once, the last one ends the pass."""
        skip = self._unanswered.union(self._scope.not_now())
        workflows, limit = self._services.callbacks.workflows, self._services.config.caboose.batch
        page = Page(sorted(skip), self._scope.shard.buckets, limit, self._after)
        due = await self._queries.due(page, workflows)
        self._found = self._found or bool(due)
        done, last = await self._follow_up_page(due)
        self._services.metrics.called_back.inc(done)
        if last is not None and (len(due) == limit or last != due[-1].uuid):
            self._after = last
            return 0.0
        self._after, self._unanswered = START, set()
        await self._report_unknown(workflows)
        poll = self._services.config.caboose.poll
        idle, self._found = not (self._found or skip or self._failed), False
        return None if idle else poll

    async def _follow_up_page(self, due: Sequence[Due]) -> tuple[int, UUID | None]:
        """Follow up the ends of a page; returns how many, and the last: a slow page is interrupted."""
        done, last = 0, None
        locked: set[UUID] = set()
        until = self._clock() + AT_ONCE
        for number, end in enumerate(due):
            if self._clock() > until:
                break
            last = end.uuid
            if end.action_name in self._unanswered or end.uuid in locked or self._is_aside(end):
                continue
            with bound(action_uuid=end.uuid):
                try:
                    done += await self._follow_up(end)
                except RowBusy:
                    locked |= await self._locked([each.uuid for each in due[number + 1 :]])
        return done, last

    def _is_aside(self, end: Due) -> bool:
        return self._clock() < self._failed.get((end.uuid, end.run), 0.0)

    async def _follow_up(self, end: Due) -> int:
        """Stop the execution, then insert the callbacks of its end; an error does not delay other ends."""
        try:
            was_stopped = await self._stop(end)
            outputs = {(end.uuid, end.run): await self._output(end)}
            async with self._queries.transaction():
                ours = await self._services.callbacks.insert(self._queries, {end.uuid: end.run}, outputs)
                if ours and was_stopped:
                    note = stopped(end.uuid, end.run, f"its action ended {end.status}")
                    await self._queries.insert_events([note])
        except (*NOT_ABOUT_A_CASE, RowBusy):
            raise
        except Exception as error:  # noqa: BLE001 - whatever one end raises
            log.warning("an end could not be followed up", status=str(end.status), error=str(error))
            if not isinstance(error, Transient):
                await self._set_aside(end, error)
            return 0
        return len(ours)

    async def _set_aside(self, end: Due, error: Exception) -> None:
        if len(self._failed) >= REMEMBERED:
            del self._failed[next(iter(self._failed))]
        self._failed[end.uuid, end.run] = self._clock() + FAILED_AGAIN
        reason = f"the callbacks of run {end.run} could not be made: {error}"
        await self._inbox.add("callbacks", str(end.uuid), reason, f"r{end.run}")

    async def _stop(self, end: Due) -> bool:
        source = self._scope.sources.get(end.action_name)
        if source is None or end.workflow is None or end.reused is not None:
            return False
        try:
            await answered(source.stop_execution(end.uuid, end.run, f"its action ended {end.status}"))
        except Transient:
            self._unanswered |= {name for name, each in self._scope.sources.items() if each is source}
            raise
        self._services.metrics.stopped.labels(source.name).inc()
        return True

    async def _locked(self, uuids: Sequence[UUID]) -> set[UUID]:
        """The threads that are locked by other transactions."""
        async with self._queries.transaction():
            free = await self._queries.lock_free(uuids)
        return set(uuids) - free

    async def _output(self, end: Due) -> Any:
        """The output; only workflows have one."""
        if end.workflow is None:
            return None
        places = Places.of_output(end.uuid, end.run, end.reused)
        return await self._services.archive.outputs.read(places)

    async def _report_unknown(self, workflows: Sequence[str]) -> None:
        """Report in the inbox that callbacks stay due because their workflow is not configured."""
        if self._clock() < self._looked_for_unknown + UNKNOWN_EVERY:
            return
        first = self._looked_for_unknown == float("-inf")
        self._looked_for_unknown = self._clock()
        page = Page(self._scope.not_ours, self._scope.shard.buckets, 1)
        for workflow, ends in (await self._queries.unknown_workflows(page, workflows)).items():
            reason = f"{ends} ends of workflow {workflow} wait: caboose's configuration does not have it"
            await self._inbox.add("unknown_workflow", workflow, reason, workflow)
        for workflow in workflows if first else ():
            await self._inbox.resolve("unknown_workflow", workflow, "the configuration has it now")
