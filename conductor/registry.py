"""A worker's row: it counts as started once the row is there, shows that it lives, and closes it at the end.

The row names the backend (pid and its start) whose locks are the worker's claims. Whoever finds the row
silent for `lost_after` marks it lost and terminates that backend. A worker that was stopped and wakes finds
its session gone; one whose row was marked while its session lives learns it from its next beat, and gives up.
"""

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from conductor.limits.served_name import ServedName
from conductor.session.session import Session, SessionLost
from switchyard import __version__
from switchyard.config.daemons import Workers
from switchyard.ledger.queries import query
from switchyard.process.log import get_logger

log = get_logger(__name__)

REGISTER = query("conductor", "register")
BEAT = query("conductor", "beat")
END = query("conductor", "end_worker")

KIND = "conductor"


@dataclass(frozen=True, slots=True)
class Identity:
    """What identifies a process in its workers' rows."""

    host: str
    zone: str | None
    config_hash: str


class Registration:
    """One worker's row, for as long as its session lives."""

    def __init__(
        self, session: Session, served: ServedName, workers: Workers, worker: UUID, clock: Callable[[], float]
    ) -> None:
        self._session = session
        self._served = served
        self._every = workers.beat
        self._clock = clock
        self._began = self._beaten = clock()
        self.worker = worker
        self.done = 0
        self.failed = 0

    def due_in(self) -> float:
        """Seconds until the next beat."""
        return self._beaten + self._every - self._clock()

    async def beat(self) -> None:
        """Show that it lives; SessionLost where somebody has decided otherwise."""
        self._beaten = self._clock()
        values = {**self._figures(), "state": json.dumps(self._served.state())}
        if not await self._session.rows(BEAT, values):
            reason = f"worker {self.worker} of {self._served.name} was marked lost"
            self._session.sever(reason)
            raise SessionLost(reason)

    async def end(self, through: Session) -> None:
        """Close the row, through this session or, where that was lost, through the next."""
        await through.rows(END, self._figures())

    def _figures(self) -> dict[str, object]:
        seconds = max(self._clock() - self._began, 1e-3)
        rate = round((self.done + self.failed) / seconds, 3)
        return {"worker": self.worker, "done": self.done, "failed": self.failed, "rate": rate}


async def register(
    session: Session,
    served: ServedName,
    wanted: int,
    *,
    identity: Identity,
    workers: Workers,
    clock: Callable[[], float] = time.monotonic,
) -> tuple[Registration, int]:
    """A row for a worker on this session, and the slots that the server's lock table has room for."""
    values = {
        "kind": KIND,
        "name": served.name,
        "host": identity.host,
        "zone": identity.zone,
        "pid": os.getpid(),
        "version": __version__,
        "config_hash": identity.config_hash,
        "slots": wanted,
    }
    [[worker, slots]] = await session.rows(REGISTER, values)
    if slots < wanted:
        log.warning(
            "fewer slots than configured: all workers together stay under a quarter of the lock table",
            action=served.name,
            wanted=wanted,
            slots=slots,
            see="max_locks_per_transaction and max_connections",
        )
    return Registration(session, served, workers, worker, clock), slots
