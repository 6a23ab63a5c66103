"""The claim that a bell brings: sent in the moment the bell is heard, for the action that it names.

A worker that rests knows of nothing else to do, so there is nothing to search and nothing to weigh: lock it,
look at it, start it. The server is at work before the worker has even woken up. A bell is anybody's to ring
and may come late, so what it names is a hint: whether it is of this name and processable, the look says, and
what this session holds is never asked for, because its lock would be granted again.
"""

import time
from uuid import UUID

from conductor.bell import Look
from conductor.claim import Claim, claim_sent, rehearse_one, send_claim_of
from conductor.handler import Work
from conductor.line import Line
from conductor.session import Sent, Session


class Prompt:
    """At most one claim that was sent and is not answered yet; nothing else may be sent meanwhile."""

    def __init__(self, session: Session, line: Line) -> None:
        self._session = session
        self._line = line
        self._sent: tuple[UUID, Sent, float] | None = None

    @property
    def pending(self) -> bool:
        """Whether an answer is to be awaited."""
        return self._sent is not None

    async def rehearse(self) -> None:
        """Before the first bell."""
        await rehearse_one(self._session, self._line.name)

    def send(self, uuid: UUID) -> None:
        """Claim that action, now."""
        self._sent = uuid, send_claim_of(self._session, self._line.name, uuid), time.perf_counter()

    async def answer(self) -> tuple[Claim, Look, list[Work], float]:
        """What was claimed, and the seconds that it took."""
        assert self._sent is not None, "nothing was sent"
        uuid, sent, began = self._sent
        attempts = self._line.action.retry.attempts
        claimed, look, works = await claim_sent(self._session, sent, self._line.name, uuid, attempts)
        self._sent = None
        return claimed, look, works, time.perf_counter() - began


def named(said: bytes) -> UUID | None:
    """The action that a bell names, if it does."""
    try:
        return UUID(said.decode())
    except ValueError:
        return None
