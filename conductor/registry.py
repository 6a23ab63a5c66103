"""A worker's row, registered before the first claim on the session that holds the worker's claims.

The row names the backend (pid and its start) of that session: when the row is marked lost, the backend is
terminated, which releases its locks. A worker that was suspended finds its session gone when it wakes; one
whose row was marked while its session lives finds out with its next heartbeat, and severs the session
(switchyard/process/heartbeat.py has the rule for all programs). While a worker rests, the pulse beats for it.
"""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass

from conductor.limits.served_name import ServedName
from conductor.session.session import Session, SessionLost
from switchyard import __version__
from switchyard.config.daemons import Workers
from switchyard.ledger.queries import query
from switchyard.process.heartbeat import Heartbeat
from switchyard.process.log import get_logger

log = get_logger(__name__)

REGISTER = query("conductor", "register")

KIND = "conductor"


@dataclass(frozen=True, slots=True)
class Identity:
    """The identity of a process in its workers' rows."""

    host: str
    zone: str | None
    config_hash: str


class Registration:
    """One worker's row, valid as long as its session."""

    def __init__(self, session: Session, served: ServedName, heartbeat: Heartbeat) -> None:
        self._session = session
        self._served = served
        self.heartbeat = heartbeat

    async def beat(self, rests: float = 0.0) -> None:
        """Send a heartbeat; raises SessionLost if the worker was marked lost."""
        if not await self.heartbeat.beat(self._served.state(), self._served.take_busy(), rests):
            raise SessionLost(self.sever())

    def sever(self) -> str:
        """End the session and release its claims, after the worker was marked lost."""
        reason = f"worker {self.heartbeat.worker} of {self._served.name} was marked lost"
        self._session.sever(reason)
        return reason

    async def end(self, through: Session) -> None:
        """Close the row, through this session or, if it was lost, the next one."""
        await self.heartbeat.end(self._served.take_busy(), through.rows)


async def register(
    session: Session,
    served: ServedName,
    wanted: int,
    *,
    identity: Identity,
    workers: Workers,
    clock: Callable[[], float] = time.monotonic,
) -> tuple[Registration, int]:
    """Register a worker on this session; returns also the slots that the server's lock table allows."""
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
    return Registration(session, served, Heartbeat(worker, workers.beat, session.rows, clock)), slots
