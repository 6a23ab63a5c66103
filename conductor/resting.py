"""The workers of this process that have nothing to do: one heartbeat and one look for all of them.

A worker rests once it holds nothing, sleeps on its armed bell, and did nothing since its last heartbeat. It
then sends nothing: the pulse (maintenance/pulse.py) shows that all who rest are alive, and asks whether there
is work for any of them that no bell announced. A bell works as before; what is claimed ends the rest, and
with it the row says that it beats regularly again.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Rester:
    """One worker that rests."""

    name: str
    orphans: bool  # it also looks for what a dead conductor left RUNNING
    rouse: Callable[[], None]
    sever: Callable[[], object]


@dataclass(slots=True)
class Resting:
    """Those of one process."""

    seconds: float  # from one pulse to the next
    workers: dict[UUID, Rester] = field(default_factory=dict)

    def heard(self, living: Collection[UUID], due: Collection[str], asked: Collection[UUID]) -> None:
        """Who is alive, of those that were asked for, and which names have work."""
        for worker in asked:
            rester = self.workers.get(worker)
            if rester is None:
                continue
            if worker not in living:
                rester.sever()
            elif rester.name in due:
                rester.rouse()
