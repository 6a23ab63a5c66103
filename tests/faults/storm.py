"""One round's faults: each struck when its time has come, each healed when its time is over."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from tests.faults.inject.strike import Heal, Injection, Missed
from tests.faults.plan import Fault
from tests.faults.yard import Yard

TICK = 0.1


@dataclass(frozen=True, slots=True)
class Struck:
    """A fault and whether it hit anything; one that did not is not counted."""

    fault: Fault
    hit: bool


def storm(
    yard: Yard,
    faults: Sequence[Fault],
    injections: Mapping[str, Injection],
    clock: Callable[[], float] = time.monotonic,
) -> list[Struck]:
    """Strike and heal in the order of time; returns when all are healed."""
    began = clock()
    struck: list[Struck] = []
    healing: list[tuple[float, int, Heal]] = []
    for number, fault in enumerate(faults):
        _until(yard, began + fault.at, healing, clock)
        try:
            heal = injections[fault.kind](yard, fault)
        except Missed:
            struck.append(Struck(fault, hit=False))
            continue
        struck.append(Struck(fault, hit=True))
        heappush(healing, (clock() + fault.seconds, number, heal))
    while healing:
        _until(yard, healing[0][0], healing, clock)
    return struck


def _until(
    yard: Yard, when: float, healing: list[tuple[float, int, Heal]], clock: Callable[[], float]
) -> None:
    """Let time pass, healing what is due and starting again what has ended."""
    while True:
        yard.tend()
        while healing and healing[0][0] <= clock():
            heappop(healing)[2]()
        left = when - clock()
        if left <= 0:
            return
        time.sleep(min(TICK, left))
