"""Completion: what a source observed is archived, recorded with its callbacks, and then forgotten.

What a crash does at each step:

    archive   the record, the log, the output; write-once. Before it: nothing happened; it is observed again.
    record    one transaction: the end, and its callbacks if it is the run's end. During it: the same.
    forget    delete the workflow, acknowledge the message. Before it: the end is observed again, found in the
              ledger, and only forgotten.

A case that cannot be finished now goes back to the intake and is tried again; while many wait there, nothing
new is taken, which slows the source down.
"""

from collections.abc import Sequence

from caboose.case import LATER, Case, NextStep
from caboose.complete.archive import Archiver
from caboose.complete.forget import Forgetter
from caboose.complete.services import Services
from caboose.inbox import Inbox
from caboose.isolate import NotLeader, one_by_one
from caboose.metrics import CabooseMetrics
from caboose.observe.decide import decide
from caboose.observe.intake import Intake
from caboose.observe.progress import Progress
from caboose.observe.stop import Stopper
from caboose.queries import Queries
from switchyard.process.log import get_logger
from switchyard.sources import Observation, Source
from switchyard.status import Status

log = get_logger(__name__)


class Completer:
    """The loop that takes one source's observations from the intake to their end."""

    def __init__(self, source: Source, intake: Intake, queries: Queries, services: Services) -> None:
        self.name = f"complete {source.name}"
        self._source = source
        self._intake = intake
        self._queries = queries
        self._services = services
        self._inbox = Inbox(queries, services.metrics)
        self._progress = Progress(source, queries, self._inbox, Stopper(source, services.metrics))
        self._archiver = Archiver(source, services.archive, self._inbox)
        self._forgetter = Forgetter(source, queries, services.metrics)

    async def run_once(self) -> float | None:
        """Complete what came and what is due again; sleep until there is more."""
        cases = [Case(seen) for seen in self._intake.take(self._services.config.caboose.batch)]
        try:
            await self._complete(cases)
        finally:
            for case in cases:
                if not case.finished:
                    self._intake.put_back([case.seen], case.retry_in)
        self._metrics.waiting.labels(self._source.name).set(self._intake.waiting + self._forgetter.waiting)
        return min(self._forgetter.next_in, self._intake.next_in(), key=_soonest)

    async def _complete(self, cases: Sequence[Case]) -> None:
        """The pipeline."""
        if not self._source.in_charge():
            return  # leadership may come back before the source reports anything again
        await self._progress.messages(cases)
        observed = await self._look_up(cases)
        await self._progress.record(observed)
        ended = _once_per_run(_with(NextStep.COMPLETE, observed))
        recorded_before = _with(NextStep.FORGET, observed)
        archived = await self._archiver.archive([*ended, *recorded_before])
        self._check_leadership()
        recorded = await self._record(_with(NextStep.COMPLETE, archived))
        await self._forgetter.forget([*recorded, *_with(NextStep.FORGET, archived)])

    async def _look_up(self, cases: Sequence[Case]) -> list[Case]:
        """The observations, with their threads and what to do about them."""
        observed = [case for case in cases if isinstance(case.seen, Observation)]
        self._metrics.observed.labels(self._source.name).inc(len(observed))
        threads = await self._queries.threads([case.observation for case in observed]) if observed else {}
        for position, case in enumerate(observed):
            case.thread = threads.get(position)
            case.step = decide(case.observation, case.thread)
        return observed

    async def _record(self, cases: Sequence[Case]) -> list[Case]:
        """All in one transaction, large outputs one at a time; those that were recorded."""
        recorded: list[Case] = []

        async def record(batch: Sequence[Case]) -> None:
            for case in batch:
                if case.large:
                    case.output = await self._services.archive.output_of(case)
            await self._services.recorder.record(self._queries, batch, self._check_leadership)
            recorded.extend(batch)

        await one_by_one(record, [case for case in cases if not case.large], self._refused)
        for case in cases:
            if case.large:
                await one_by_one(record, [case], self._refused)
                case.output = None
        for case in recorded:
            self._metrics.ended(self._source.name, case.archived.status or Status.FAILED)
        return recorded

    async def _refused(self, case: Case, error: Exception) -> None:
        """One end that cannot be recorded delays no other, and a person is told."""
        seen = case.observation
        log.warning("an end could not be recorded", action_uuid=str(seen.uuid), error=str(error))
        if seen.poison is not None:
            await self._progress.notice(case, seen.poison)
            return
        case.retry_in = LATER
        reason = f"the end of run {seen.run} could not be recorded: {error}"
        await self._inbox.add("end", str(seen.uuid), reason, f"r{seen.run}")

    def _check_leadership(self) -> None:
        if not self._source.in_charge():
            raise NotLeader

    @property
    def _metrics(self) -> CabooseMetrics:
        return self._services.metrics


def _with(step: NextStep, cases: Sequence[Case]) -> list[Case]:
    return [case for case in cases if case.step is step]


def _once_per_run(cases: Sequence[Case]) -> list[Case]:
    """An end that was observed twice in one batch is recorded once; the second finds it in the ledger."""
    first: dict[tuple[object, int], Case] = {}
    for case in cases:
        key = (case.observation.uuid, case.observation.run)
        if first.setdefault(key, case) is not case:
            case.retry_in = 0.0
    return list(first.values())


def _soonest(seconds: float | None) -> float:
    return float("inf") if seconds is None else seconds
