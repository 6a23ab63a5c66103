"""Resting workers: one heartbeat and one query for all workers of this process without work.

A worker rests when it holds nothing, sleeps on its armed bell, and did nothing since its last heartbeat. It
then sends nothing: the pulse (maintenance/pulse.py) sends the heartbeats of all resting workers, and asks
whether there is work for any of them that no notification announced. Notifications work as before; a claim
ends the rest, and the row then shows that the worker sends regular heartbeats again.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Rester:
    """One resting worker."""

    name: str
    orphans: bool  # it also looks for what a dead conductor left RUNNING
    rouse: Callable[[], None]
    sever: Callable[[], object]


@dataclass(slots=True)
class Resting:
    """The resting workers of one process."""

    seconds: float  # from one pulse to the next
    workers: dict[UUID, Rester] = field(default_factory=dict)

    def heard(self, living: Collection[UUID], due: Collection[str], asked: Collection[UUID]) -> None:
        """Apply the pulse's result: which workers are still registered, and which names have work."""
        for worker in asked:
            rester = self.workers.get(worker)
            if rester is None:
                continue
            if worker not in living:
                rester.sever()
            elif rester.name in due:
                rester.rouse()
