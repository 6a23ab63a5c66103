"""Completion: what sources tell becomes archive, events and callbacks, and is then forgotten.

The order, and what a death in between does:

    archive   the record, the log, the output; write-once. Dead here: nobody was told; it is told again.
    record    one transaction: the end, and the callbacks if that end stands. Dead in it: the same.
    forget    delete the workflow, acknowledge the message. Dead before it: the end is told again, the ledger
              says that it has it, and it is only forgotten.

What cannot be done now stays in `later` and is tried again; while much waits there, nothing more is taken
in, and the source feels it. Where the store takes no archive, the execution stays where it is and the inbox
says why.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from uuid import NAMESPACE_OID, UUID, uuid5

import psycopg

from caboose.archive import Archived
from caboose.cancel import Stopper, why
from caboose.decide import Todo, decide
from caboose.forget import Forgettable, Forgetter
from caboose.inbox import Inbox
from caboose.intake import Intake
from caboose.keep import LATER, SOON, Keeper, Known
from caboose.ledger import Event, Ledger, Thread
from caboose.means import Means
from caboose.record import End, NotInCharge
from switchyard.errors import SwitchyardError
from switchyard.places import Places
from switchyard.process.log import get_logger
from switchyard.sources import Beat, Notice, Observation, Seen, Source
from switchyard.status import Status

log = get_logger(__name__)


class Completer:
    """The loop that takes one source's observations to their end."""

    def __init__(self, source: Source, intake: Intake, ledger: Ledger, means: Means) -> None:
        self.name = f"complete {source.name}"
        self._source = source
        self._intake = intake
        self._ledger = ledger
        self._means = means
        self._forgetter = Forgetter(source, ledger, means.metrics)
        self._stopper = Stopper(source, means.metrics)
        self._inbox = Inbox(ledger, means.metrics)
        self._keeper = Keeper(source, self._inbox, means, self._again)
        self._in_hand: dict[int, Seen] = {}

    async def run_once(self) -> float | None:
        """Take what came and what is due again; sleep until more comes."""
        batch = self._intake.take(self._means.config.caboose.batch)
        if not self._source.in_charge():
            self._intake.put_back(batch, SOON)  # the lease may come back before anything is told anew
            return SOON
        self._in_hand = {id(seen): seen for seen in batch}
        try:
            await self._process(batch)
        except BaseException:
            self._intake.put_back(self._in_hand.values(), SOON)
            raise
        self._means.metrics.waiting.labels(self._source.name).set(
            self._intake.waiting + self._forgetter.waiting
        )
        if self._forgetter.waiting:
            return SOON
        return self._intake.next_in()

    async def _process(self, batch: Sequence[Seen]) -> None:
        for seen in batch:
            if isinstance(seen, Notice):
                await self._notice(seen)
            elif isinstance(seen, Beat):
                await self._beat(seen)
        observed = [seen for seen in batch if isinstance(seen, Observation)]
        self._means.metrics.observed.labels(self._source.name).inc(len(observed))
        threads = await self._ledger.threads_of(observed) if observed else {}
        todo: dict[Todo, list[Known]] = {kind: [] for kind in Todo}
        for place, seen in enumerate(observed):
            thread = threads.get(place)
            todo[decide(seen, thread)].append((seen, thread))
        notes = [(replace(seen, status=Status.INFO), thread) for seen, thread in todo[Todo.NOTE]]
        await self._write([*todo[Todo.WRITE], *notes])
        await self._settle([seen for seen, _ in (*todo[Todo.WRITE], *todo[Todo.NOTE])])
        self._put_off(todo[Todo.LATER])
        await self._stop([*todo[Todo.STOP], *await self._doubted(todo[Todo.DOUBT])])
        await self._wonder(todo[Todo.STRANGE])
        await self._end(todo[Todo.COMPLETE], todo[Todo.FORGET])
        await self._settle([seen for seen, _ in todo[Todo.NOTHING]])

    async def _write(self, known: Sequence[Known]) -> None:
        """INFO as often as it is told, RUNNING once, in one statement."""
        events = {(seen.uuid, seen.run): _event(seen) for seen, _ in known if seen.status is Status.RUNNING}
        notes = [_event(seen) for seen, _ in known if seen.status is Status.INFO]
        await self._ledger.insert_events([*events.values(), *notes])

    def _put_off(self, known: Sequence[Known]) -> None:
        for seen, _ in known:
            self._again(seen, SOON)

    async def _stop(self, known: Sequence[Known]) -> None:
        """One that cannot be stopped now holds up nobody else."""
        for seen, thread in known:
            try:
                await self._stopper.stop(self._ledger, seen, why(seen, thread), known=thread is not None)
            except SwitchyardError as error:
                log.warning("could not stop", source=self._source.name, uuid=str(seen.uuid), error=str(error))
                self._again(seen, SOON)
            else:
                await self._settle([seen])

    async def _doubted(self, known: Sequence[Known]) -> list[Known]:
        """Of those that are told to run after their end, the ones that a fresh look finds running."""
        running = []
        for seen, thread in known:
            try:
                found = await self._source.look(seen.uuid, seen.run) if self._source.can_look else None
            except SwitchyardError as error:
                log.warning("could not look", source=self._source.name, uuid=str(seen.uuid), error=str(error))
                self._again(seen, SOON)
                continue
            if found is not None and found.status is not None and not found.status.ended:
                running.append((seen, thread))
            else:
                await self._settle([seen])
        return running

    async def _wonder(self, known: Sequence[Known]) -> None:
        for seen, thread in known:
            at = thread.run if thread else 0
            reason = f"{self._source.name} told of run {seen.run} of action {seen.uuid}, which is at run {at}"
            detail = {"status": seen.status, "error": seen.error, **seen.detail}
            await self._inbox.tell("strange_run", str(seen.uuid), reason, f"r{seen.run}", detail)
            await self._settle([seen])

    async def _end(self, complete: Sequence[Known], forget: Sequence[Known]) -> None:
        """Archive all at once, record those that the ledger does not have yet, forget all."""
        first = _first_of_each(complete)
        kept = await self._keeper.keep([*first, *forget])
        if not self._source.in_charge():
            raise NotInCharge
        new = [End(a, t) for (_, t), a in zip(first, kept, strict=False) if a is not None and t is not None]
        recorded = [*await self._record([end for end in new if not end.archived.large])]
        for end in new:
            if end.archived.large:
                recorded += await self._record([await self._with_output(end)])
        done: list[Forgettable] = [(end.archived.observation, end.thread.lock_id) for end in recorded]
        for (seen, thread), archived in zip(forget, kept[len(first) :], strict=True):
            if archived is not None:
                _log_forgotten(seen, thread)
                done.append((seen, thread.lock_id if thread else None))
        safe = {(seen.uuid, seen.run) for seen, _ in done}
        for seen, _ in (*first, *forget):
            if (seen.uuid, seen.run) in safe:
                self._in_hand.pop(id(seen), None)  # from here on it is the forgetter's
        await self._forgetter.forget(done)
        for seen, _ in complete:
            if id(seen) in self._in_hand and not any(seen is known[0] for known in first):
                self._again(seen, 0.0)

    async def _record(self, ends: Sequence[End]) -> Sequence[End]:
        """All in one transaction; where the database refuses one of them, each by itself."""
        if not ends:
            return ends
        try:
            await self._means.recorder.record(self._ledger, ends, self._source.in_charge)
        except psycopg.DatabaseError as error:
            if len(ends) > 1:
                return [done for end in ends for done in await self._record([end])]
            await self._refused(ends[0], error)
            return []
        for end in ends:
            self._means.metrics.ended(self._source.name, end.archived.observation.status or Status.FAILED)
        return ends

    async def _with_output(self, end: End) -> End:
        """A large output is in memory only while its own end is recorded."""
        seen = end.archived.observation
        output = await self._means.archive.output_of(Places(seen.uuid, seen.run))
        return End(Archived(seen, output), end.thread)

    async def _refused(self, end: End, error: psycopg.DatabaseError) -> None:
        seen = end.archived.observation
        log.warning("the ledger refused an end", action_uuid=str(seen.uuid), error=str(error))
        if seen.poison is not None:
            self._in_hand.pop(id(seen), None)
            await self._notice(seen.poison)
            return
        reason = f"the end of run {seen.run} could not be recorded: {error}"
        await self._inbox.tell("end", str(seen.uuid), reason, f"r{seen.run}")
        self._again(seen, LATER)

    async def _notice(self, notice: Notice) -> None:
        await self._inbox.tell("message", notice.subject, notice.reason, notice.key, notice.detail)
        await self._settle([notice])

    async def _beat(self, beat: Beat) -> None:
        await self._ledger.keep_worker(worker_uuid(beat.worker), beat)
        await self._settle([beat])

    def _again(self, seen: Seen, seconds: float) -> None:
        """Not now; whatever becomes of the rest of the batch."""
        self._in_hand.pop(id(seen), None)
        self._intake.put_back([seen], seconds)

    async def _settle(self, settled: Sequence[Seen]) -> None:
        """The ledger has it: acknowledge it. One that cannot be acknowledged comes again, without harm."""
        for seen in settled:
            self._in_hand.pop(id(seen), None)
        acknowledged = (seen.acknowledge() for seen in settled if seen.acknowledge)
        for result in await asyncio.gather(*acknowledged, return_exceptions=True):
            if isinstance(result, BaseException):
                log.warning("could not acknowledge", source=self._source.name, error=str(result))


def worker_uuid(name: str) -> UUID:
    """A worker's own id where it is a uuid, else one that is always the same for its name."""
    try:
        return UUID(name)
    except ValueError:
        return uuid5(NAMESPACE_OID, f"switchyard worker {name}")


def _event(seen: Observation) -> Event:
    assert seen.status is not None, "nothing is written of what is gone"
    return Event(seen.uuid, seen.run, seen.status, seen.error, None, seen.detail)


def _first_of_each(known: Sequence[Known]) -> list[Known]:
    """The same end told twice in one batch is recorded once; the second then finds it there."""
    return list({(seen.uuid, seen.run): (seen, thread) for seen, thread in reversed(known)}.values())


def _log_forgotten(seen: Observation, thread: Thread | None) -> None:
    if thread is None:
        log.warning(
            "an end without an action: archived and forgotten", action_uuid=str(seen.uuid), run=seen.run
        )
