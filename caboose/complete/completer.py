"""Completion: what a source observed is archived, recorded with its callbacks, and then forgotten.

What a crash does at each step:

    archive   the record, the log, the output; write-once. Before it: nothing happened; it is observed again.
    record    one transaction: the end, and its callbacks if it is the run's end. During it: the same.
    forget    delete the workflow, acknowledge the message. Before it: the end is observed again, found in the
              ledger, and only forgotten.

A case that cannot be finished now goes back to the intake and is tried again. One that is refused is reported
in the inbox and set aside, for any error at any step: the others continue without it.
"""

import time
from collections.abc import Sequence

from caboose.case import LATER, SOON, Case, NextStep
from caboose.complete.archive import Archiver
from caboose.complete.forget import Forgetter
from caboose.complete.services import Services
from caboose.inbox import Inbox
from caboose.isolate import NOT_ABOUT_A_CASE, NotLeader, cases_without_locked, one_by_one
from caboose.leader import Leader
from caboose.observe.acknowledge import acknowledge
from caboose.observe.decide import decide
from caboose.observe.intake import Intake
from caboose.observe.progress import Progress
from caboose.observe.stop import Stopper
from caboose.queries import Queries
from switchyard.errors import Transient
from switchyard.process.log import get_logger
from switchyard.sources import Observation, Seen, ServedSource
from switchyard.status import Status

log = get_logger(__name__)

AT_ONCE = 20.0  # seconds of one turn for ends that are recorded alone: a loop must not look stuck


class Completer:
    """The loop that completes the observations of one source."""

    def __init__(
        self, served: ServedSource, intake: Intake, leader: Leader, queries: Queries, services: Services
    ) -> None:
        source, names = served.source, served.names
        self.name = f"complete {source.name}"
        self._source = source
        self._names = names
        self._intake = intake
        self._leader = leader
        self._queries = queries
        self._services = services
        self._inbox = Inbox(queries, services.metrics)
        self._progress = Progress(source, names, queries, self._inbox, Stopper(source, services.metrics))
        self._archiver = Archiver(source, services.archive, self._inbox, self._failed)
        self._forgetter = Forgetter(source, queries, services.metrics)

    async def run_once(self) -> float | None:
        """Complete new cases and those due for a retry; sleep until there are more."""
        if not await self._leader.look():
            return self._leader.look_in
        most = self._services.config.caboose.batch
        await self._batch(self._intake.take(most))
        aside = self._intake.take_aside(most)
        if aside:
            await self._batch(aside)
        waiting = self._intake.waiting + self._forgetter.waiting
        self._services.metrics.waiting.labels(self._source.name).set(waiting)
        next_in = (self._forgetter.next_in, self._intake.next_in(), self._leader.look_in)
        return min(next_in, key=_soonest)

    async def _batch(self, seen: Sequence[Seen]) -> None:
        """Return the unfinished cases of a batch to the intake, also after an error."""
        cases = [Case(each) for each in seen]
        try:
            await self._complete(cases)
        finally:
            for case in cases:
                if not case.finished:
                    self._intake.put_back([case.seen], case.retry_in, aside=case.aside)

    async def _complete(self, cases: Sequence[Case]) -> None:
        """The pipeline."""
        observed = [case for case in cases if isinstance(case.seen, Observation)]
        messages = [case for case in cases if not isinstance(case.seen, Observation)]
        await one_by_one(self._progress.messages, messages, self._failed)
        await one_by_one(self._look_up, observed, self._failed)
        await self._progress.record(observed, self._failed)
        ended = _once_per_run(_with(NextStep.COMPLETE, observed))
        known = _with(NextStep.FORGET, observed)
        archived = await self._archiver.archive([*ended, *(case for case in known if case.thread)])
        self._check_leadership()
        recorded = await self._record(_with(NextStep.COMPLETE, archived))
        unknown = [case for case in known if case.thread is None]
        await self._forgetter.forget([*recorded, *_with(NextStep.FORGET, archived), *unknown])

    async def _look_up(self, cases: Sequence[Case]) -> None:
        """Read the threads of the observations, and decide the next step of each."""
        threads = await self._queries.threads([case.observation for case in cases])
        for position, case in enumerate(cases):
            case.thread = threads.get(position)
            case.step = decide(case.observation, case.thread, self._names)
        self._services.metrics.observed.labels(self._source.name).inc(len(cases))

    async def _record(self, cases: Sequence[Case]) -> list[Case]:
        """Record ends in one transaction; slow or large ones each in a separate transaction."""
        recorded: list[Case] = []

        async def record(batch: Sequence[Case]) -> None:
            recorded.extend(await cases_without_locked(self._queries, self._transaction, batch))

        alone = [case for case in cases if case.large or case.known_thread.slow_callbacks]
        apart = set(alone)
        await one_by_one(record, [case for case in cases if case not in apart], self._failed)
        until = time.monotonic() + AT_ONCE
        for case in alone:
            if time.monotonic() > until:
                case.retry_in = 0.0  # the next turn goes on with it
                continue
            await one_by_one(record, [case], self._failed)
            case.output = None
        for case in recorded:
            self._services.metrics.ended(self._source.name, case.archived.status or Status.FAILED)
        return recorded

    async def _transaction(self, cases: Sequence[Case]) -> None:
        for case in cases:
            if case.large:
                case.output = await self._services.archive.output_of(case)
        await self._services.recorder.record(self._queries, cases, self._check_leadership)

    async def _failed(self, case: Case, error: Exception) -> None:
        """Report a case that cannot be processed, and set it aside."""
        case.set_aside(LATER)
        log.warning("could not process", source=self._source.name, seen=_named(case), error=str(error))
        if isinstance(error, Transient):
            case.set_aside(SOON)
            return
        try:
            await self._report(case, error)
        except NOT_ABOUT_A_CASE:
            raise
        except Exception as unreported:  # noqa: BLE001 - the log has it, and the others go on
            log.warning("could not report", source=self._source.name, error=str(unreported))

    async def _report(self, case: Case, error: Exception) -> None:
        seen = case.seen
        if not isinstance(seen, Observation):
            reason = f"a message could not be recorded: {error}"
            await self._inbox.add("message", self._source.name, reason, type(seen).__name__)
            await acknowledge(self._source.name, [case])
        elif seen.poison is not None:
            await self._progress.notice(case, seen.poison)
        else:
            what = "end" if seen.status is None or seen.status.ended else "progress"
            reason = f"the {what} of run {seen.run} could not be recorded: {error}"
            await self._inbox.add(what, str(seen.uuid), reason, f"r{seen.run}")

    def _check_leadership(self) -> None:
        if not self._leader.leads:
            raise NotLeader


def _named(case: Case) -> str:
    seen = case.seen
    return f"{seen.uuid} run {seen.run}" if isinstance(seen, Observation) else type(seen).__name__


def _with(step: NextStep, cases: Sequence[Case]) -> list[Case]:
    """The cases with this next step; a case that could not be looked up has none."""
    return [case for case in cases if case.step is step]


def _once_per_run(cases: Sequence[Case]) -> list[Case]:
    """One case per run: a second observation of an end in the same batch is handled in a later one."""
    first: dict[tuple[object, int], Case] = {}
    for case in cases:
        key = (case.observation.uuid, case.observation.run)
        if first.setdefault(key, case) is not case:
            case.retry_in = 0.0
    return list(first.values())


def _soonest(seconds: float | None) -> float:
    return float("inf") if seconds is None else seconds
