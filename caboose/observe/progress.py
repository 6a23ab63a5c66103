"""Everything that a source reports except ends: progress, heartbeats, messages, and what must be stopped."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import NAMESPACE_OID, UUID, uuid5

from caboose.case import Case, NextStep
from caboose.inbox import Inbox
from caboose.observe.acknowledge import acknowledge
from caboose.observe.stop import Stopper, why
from caboose.queries import Queries
from caboose.rows import Event
from switchyard.errors import SwitchyardError
from switchyard.process.log import get_logger
from switchyard.sources import Beat, Notice, Observation, Source
from switchyard.status import Status

log = get_logger(__name__)


class Progress:
    """Records the progress of one source's executions, and stops those that are no longer needed."""

    def __init__(self, source: Source, queries: Queries, inbox: Inbox, stopper: Stopper) -> None:
        self._source = source
        self._queries = queries
        self._inbox = inbox
        self._stopper = stopper

    async def messages(self, cases: Sequence[Case]) -> None:
        """Messages that belong in the inbox, and heartbeats of workers."""
        for case in cases:
            if isinstance(case.seen, Notice):
                await self.notice(case, case.seen)
            elif isinstance(case.seen, Beat):
                await self._queries.record_worker(worker_uuid(case.seen.worker), case.seen)
                await self._acknowledge([case])

    async def notice(self, case: Case, notice: Notice) -> None:
        """Add it to the inbox, then acknowledge it there and in its queue."""
        await self._inbox.add("message", notice.subject, notice.reason, notice.key, notice.detail)
        case.seen = notice
        await self._acknowledge([case])

    async def record(self, cases: Sequence[Case]) -> None:
        """Every observation that is not an end to complete or forget."""
        by_step = {step: [case for case in cases if case.step is step] for step in NextStep}
        written = [*by_step[NextStep.WRITE], *by_step[NextStep.NOTE]]
        await self._queries.insert_events(_events(written))
        await self._acknowledge(written)
        for case in by_step[NextStep.STOP]:
            await self._stop(case)
        for case in by_step[NextStep.LOOK]:
            await self._look(case)
        for case in by_step[NextStep.REPORT]:
            await self._report(case)
        await self._acknowledge(by_step[NextStep.ACKNOWLEDGE])

    async def _stop(self, case: Case) -> None:
        """One that cannot be stopped now delays no other, and is tried again."""
        seen, thread = case.observation, case.thread
        try:
            await self._stopper.stop(self._queries, seen, why(seen, thread), known=thread is not None)
        except SwitchyardError as error:
            log.warning("could not stop", source=self._source.name, uuid=str(seen.uuid), error=str(error))
        else:
            await self._acknowledge([case])

    async def _look(self, case: Case) -> None:
        """It was seen running after its end: stopped where a fresh look finds it running."""
        seen = case.observation
        try:
            found = await self._source.look(seen.uuid, seen.run) if self._source.can_look else None
        except SwitchyardError as error:
            log.warning("could not look", source=self._source.name, uuid=str(seen.uuid), error=str(error))
            return
        if found is not None and found.status is not None and not found.status.ended:
            await self._stop(case)
        else:
            await self._acknowledge([case])

    async def _report(self, case: Case) -> None:
        seen, at = case.observation, case.thread.run if case.thread else 0
        reason = f"{self._source.name} reported run {seen.run} of action {seen.uuid}, which is at run {at}"
        detail = {"status": seen.status, "error": seen.error, **seen.detail}
        await self._inbox.add("strange_run", str(seen.uuid), reason, f"r{seen.run}", detail)
        await self._acknowledge([case])

    async def _acknowledge(self, cases: Sequence[Case]) -> None:
        await acknowledge(self._source.name, cases)


def worker_uuid(name: str) -> UUID:
    """A worker's own id where it is a UUID, else one derived from its name."""
    try:
        return UUID(name)
    except ValueError:
        return uuid5(NAMESPACE_OID, f"switchyard worker {name}")


def _events(cases: Sequence[Case]) -> list[Event]:
    """RUNNING once per run, INFO as often as it was reported."""
    seen = [_noted(case) for case in cases]
    running = {(each.uuid, each.run): _event(each) for each in seen if each.status is Status.RUNNING}
    return [*running.values(), *(_event(each) for each in seen if each.status is Status.INFO)]


def _noted(case: Case) -> Observation:
    """Progress of a thread that is RUNNING already is recorded as INFO."""
    seen = case.observation
    return replace(seen, status=Status.INFO) if case.step is NextStep.NOTE else seen


def _event(seen: Observation) -> Event:
    assert seen.status is not None, "nothing is recorded of an execution that is gone"
    return Event(seen.uuid, seen.run, seen.status, seen.error, None, seen.detail)
