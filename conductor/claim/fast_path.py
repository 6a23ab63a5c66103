"""The claim that a bell brings: sent in the moment the bell is heard, for the action that it names.

A worker that rests knows of nothing else to do, so there is nothing to search and nothing to weigh: lock it,
look at it, start it. The server is at work before the worker has even woken up. A bell is anybody's to ring
and may come late, so what it names is a hint: whether it is of this name and processable, the look says, and
what this session holds is never asked for, because its lock would be granted again.
"""

import time
from dataclasses import dataclass
from uuid import UUID

import psycopg

from conductor.claim.claim import Claim, or_sever, work_of
from conductor.limits.served_name import ServedName
from conductor.session.arrays import BigInts, Ints, Uuids
from conductor.session.protocol import Prepared, Sent
from conductor.session.session import Session
from conductor.worker.wakeup import Look
from switchyard.handlers import Work
from switchyard.ledger.queries import query

CLAIM_ONE = query("conductor", "claim_one")
TYPES = (25, 2950)  # text and uuid, as Postgres numbers them


@dataclass(frozen=True, slots=True)
class Found:
    """What came of it: one action that is claimed, or none."""

    look: Look
    work: Work | None = None
    lock: int = 0
    seconds: float = 0.0  # that the claim took

    def claim(self) -> Claim:
        """The same as columns."""
        assert self.work is not None, "nothing was found"
        uuid, run, before = self.work.uuid, self.work.run, self.work.attempt - 1
        return Claim(Uuids.of([uuid]), Ints.of([run]), Ints.of([before]), BigInts.of([self.lock]))


class FastClaim:
    """At most one claim that was sent and is not answered yet; nothing else may be sent meanwhile."""

    def __init__(self, session: Session, served: ServedName) -> None:
        self._session = session
        self._served = served
        self._name = served.name.encode()
        self._claim: Prepared | None = None
        self._sent: tuple[UUID, Sent, float] | None = None

    @property
    def pending(self) -> bool:
        """Whether an answer is to be awaited."""
        return self._sent is not None

    async def prepare(self) -> None:
        """Before the first bell."""
        self._claim = await self._session.prepare(CLAIM_ONE, TYPES)
        await self.rehearse()

    async def rehearse(self) -> None:
        """A round trip that has the server plan a claim again where a new partition made its plan void.

        Without an id nothing is locked, so an error means nothing: somebody drops a partition, perhaps.
        """
        assert self._claim is not None, "not prepared"
        try:
            sent = self._session.send(self._claim, (self._name, None))
            await self._session.answer(self._claim, sent)
        except psycopg.Error:
            if self._session.lost:
                raise
            await self._session.ping()

    def send(self, uuid: UUID) -> None:
        """Claim that action, now."""
        assert self._claim is not None, "not prepared"
        self._sent = uuid, self._session.send(self._claim, (self._name, uuid.bytes)), time.perf_counter()

    async def answer(self) -> Found:
        """What came of it."""
        assert self._claim is not None, "not prepared"
        assert self._sent is not None, "nothing was sent"
        uuid, sent, began = self._sent
        with or_sever(self._session, "claim"):
            [[skipped, lock, run, before, *description]] = await self._session.answer(self._claim, sent)
        self._sent = None
        look = Look(wanted=1, claimed=int(lock is not None), skipped=skipped, due_in=None)
        if lock is None:
            return Found(look)
        attempts = self._served.action.retry.attempts
        work = work_of(self._served.name, uuid, run, before, description, attempts)
        return Found(look, work, lock, time.perf_counter() - began)


def named(said: bytes) -> UUID | None:
    """The action that a bell names, if it does."""
    try:
        return UUID(said.decode())
    except ValueError:
        return None
