"""Fast path: when a NOTIFY names one action and the worker is idle, claim just that action.

An idle worker has no other work, so it need not search: it locks the action, reads it and starts it. The
statement is sent while the notification is being read, before the worker's task wakes up. A notification
can come from any client and may be late, so it is only a hint: the claim itself checks that the action has
this name and is processable. Actions that this session holds are never requested: advisory locks are
re-entrant, so the lock would be granted again.
"""

import time
from uuid import UUID

import psycopg

from conductor.action import ClaimedAction
from conductor.claim.claim import Look, action_of, or_sever
from conductor.limits.served_name import ServedName
from conductor.session.protocol import Prepared, Sent
from conductor.session.session import Session
from switchyard.ledger.queries import query

CLAIM_ONE = query("conductor", "claim_one")
TYPES = (25, 2950)  # text and uuid, as Postgres numbers them


class FastClaim:
    """At most one claim that was sent and not answered yet; no other statement may be sent meanwhile."""

    def __init__(self, session: Session, served: ServedName) -> None:
        self._session = session
        self._served = served
        self._name = served.name.encode()
        self._claim: Prepared | None = None
        self._sent: tuple[UUID, Sent, float] | None = None
        self.seconds = 0.0  # that the last one took

    @property
    def pending(self) -> bool:
        """Whether an answer is outstanding."""
        return self._sent is not None

    async def prepare(self) -> None:
        """Prepare the statement; called before the first notification."""
        self._claim = await self._session.prepare(CLAIM_ONE, TYPES)
        await self.rehearse()

    async def rehearse(self) -> None:
        """A round trip that makes the server plan the claim again if a new partition invalidated its plan.

        Without an id nothing is locked, so an error is harmless: for example, a partition is being dropped.
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
        """Send the claim of that action."""
        assert self._claim is not None, "not prepared"
        self._sent = uuid, self._session.send(self._claim, (self._name, uuid.bytes)), time.perf_counter()

    async def answer(self) -> tuple[ClaimedAction | None, Look]:
        """The action, if it could be claimed."""
        assert self._claim is not None, "not prepared"
        assert self._sent is not None, "nothing was sent"
        uuid, sent, began = self._sent
        with or_sever(self._session, "claim"):
            [[skipped, lock, run, before, *description]] = await self._session.answer(self._claim, sent)
        self._sent = None
        self.seconds = time.perf_counter() - began
        look = Look(wanted=1, claimed=int(lock is not None), skipped=skipped, due_in=None)
        if lock is None:
            return None, look
        attempts = self._served.action.retry.attempts
        return action_of(self._served.name, uuid, run, before, lock, description, attempts), look


def named(payload: bytes) -> UUID | None:
    """The action that a notification names, if any."""
    try:
        return UUID(payload.decode())
    except ValueError:
        return None
