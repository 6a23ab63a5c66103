"""Handles everything that a source reports except ends: progress, heartbeats, messages, stops."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from uuid import NAMESPACE_OID, UUID, uuid5

from caboose.case import SOON, Case, NextStep
from caboose.inbox import Inbox
from caboose.isolate import Failed, Step, answered, cases_without_locked, one_by_one
from caboose.observe.acknowledge import acknowledge
from caboose.observe.stop import Stopper, why
from caboose.queries import Queries
from caboose.rows import Event
from switchyard.sources import Beat, Notice, Observation, Source, Unfollowed
from switchyard.status import Status


class Progress:
    """Records the progress of one source's executions, and stops those that are no longer needed."""

    def __init__(
        self, source: Source, names: Collection[str], queries: Queries, inbox: Inbox, stopper: Stopper
    ) -> None:
        self._source = source
        self._names = names
        self._queries = queries
        self._inbox = inbox
        self._stopper = stopper

    async def messages(self, cases: Sequence[Case]) -> None:
        """Handle inbox messages, heartbeats of workers, and jobs without a thread."""
        for case in cases:
            if isinstance(case.seen, Notice):
                await self.notice(case, case.seen)
            elif isinstance(case.seen, Beat):
                await self._heartbeat(case.seen)
                await self._acknowledge([case])
            elif isinstance(case.seen, Unfollowed):
                if case.seen.notify is not None:
                    await self._queries.submit_once(case.seen.notify)
                await self._acknowledge([case])

    async def notice(self, case: Case, notice: Notice) -> None:
        """Add it to the inbox, then acknowledge it."""
        await self._inbox.add("message", notice.subject, notice.reason, notice.key, notice.detail)
        case.seen = notice
        await self._acknowledge([case])

    async def record(self, cases: Sequence[Case], failed: Failed) -> None:
        """Handle every observation that is not an end to complete or forget."""
        by_step = {step: [case for case in cases if case.step is step] for step in NextStep}
        await one_by_one(self._write, [*by_step[NextStep.WRITE], *by_step[NextStep.NOTE]], failed)
        await self._wait(by_step[NextStep.LATER])
        for step, handle in (
            (NextStep.STOP, self._stop),
            (NextStep.LOOK, self._look),
            (NextStep.REPORT, self._report),
        ):
            await self._in_turn(handle, by_step[step], failed)
        await self._acknowledge(by_step[NextStep.ACKNOWLEDGE])

    async def _wait(self, cases: Sequence[Case]) -> None:
        """Retry until conductor has recorded the handover; after many retries, progress is dropped."""
        for case in cases:
            case.set_aside(SOON)
        ended = {case for case in cases if case.observation.status and case.observation.status.ended}
        await self._acknowledge([case for case in cases if case.observation.poison and case not in ended])

    async def _in_turn(self, step: Step, cases: Sequence[Case], failed: Failed) -> None:
        """Handle cases one after the other; after a failure, which may be slow, the rest is retried later."""
        for number, case in enumerate(cases):
            await one_by_one(step, [case], failed)
            if not case.finished:
                for other in cases[number + 1 :]:
                    other.set_aside(SOON)
                return

    async def _write(self, cases: Sequence[Case]) -> None:
        async def insert(batch: Sequence[Case]) -> None:
            await self._queries.insert_events(_events(batch))

        await self._acknowledge(await cases_without_locked(self._queries, insert, cases))

    async def _stop(self, cases: Sequence[Case]) -> None:
        for case in cases:
            seen, thread = case.observation, case.thread
            await self._stopper.stop(self._queries, seen, why(seen, thread), known=thread is not None)
        await self._acknowledge(cases)

    async def _look(self, cases: Sequence[Case]) -> None:
        """Look again at executions seen running after their end; stop those that still run."""
        for case in cases:
            seen = case.observation
            found = None
            if self._source.can_look:
                found = await answered(self._source.look(seen.uuid, seen.run))
            if found is not None and found.status is not None and not found.status.ended:
                await self._stop([case])
        await self._acknowledge(cases)

    async def _report(self, cases: Sequence[Case]) -> None:
        """Report an observation that this source cannot legitimately make: a mistake or a forgery."""
        for case in cases:
            seen, thread = case.observation, case.known_thread
            where = f"which is at run {thread.run}"
            if thread.action_name not in self._names:
                where = f"which is of {thread.action_name} and was not handed over to it"
            reason = f"{self._source.name} reported run {seen.run} of action {seen.uuid}, {where}"
            detail = {"status": seen.status, "error": seen.error, **seen.detail}
            await self._inbox.add("strange_run", str(seen.uuid), reason, f"r{seen.run}", detail)
        if self._source.can_look:
            await self._acknowledge(cases)
        else:
            await self._dismiss(cases)

    async def _dismiss(self, cases: Sequence[Case]) -> None:
        """Acknowledge a message, or forget it if it reports an end."""
        for case in cases:
            if case.seen.acknowledge is None:
                await answered(self._source.forget(case.observation))
        await self._acknowledge(cases)

    async def _heartbeat(self, beat: Beat) -> None:
        """Record a worker's heartbeat; its row has the action name if there is only one possible."""
        (action_name,) = self._names if len(self._names) == 1 else (None,)
        if not await self._queries.record_worker(worker_uuid(beat.worker), beat, action_name):
            reason = f"{self._source.name} reported a heartbeat of {beat.worker}, which is another program's"
            await self._inbox.add("message", self._source.name, reason, beat.worker)

    async def _acknowledge(self, cases: Sequence[Case]) -> None:
        await acknowledge(self._source.name, cases)


def worker_uuid(name: str) -> UUID:
    """A worker's own id where it is a UUID, else one derived from its name."""
    try:
        return UUID(name)
    except ValueError:
        return uuid5(NAMESPACE_OID, f"switchyard worker {name}")


def _events(cases: Sequence[Case]) -> list[Event]:
    """The events to record: RUNNING once per run, INFO for every report."""
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
