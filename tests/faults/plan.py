"""Which fault comes when, and whom it hits: all of it follows from the seed, before anything runs."""

import random
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

GAP = (0.1, 0.9)  # seconds between two faults


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of fault. Faults of one grip never hold the same target at the same time."""

    name: str
    grip: str
    targets: tuple[str, ...]
    weight: int = 1
    seconds: tuple[float, float] = (0.0, 0.0)
    rest: float = 0.0  # how long its target is then left alone by that grip: time to come up again


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of a round: it comes `at` this many seconds, not before, and lasts for `seconds`."""

    at: float
    kind: str
    target: str
    seconds: float
    amount: float  # from 0 to 1: how much of it, where that can be chosen


def plan(seed: int, count: int, a_round: int, kinds: Sequence[Kind]) -> list[list[Fault]]:
    """`count` faults in rounds of `a_round`; each kind once, then as often as it weighs, again and again."""
    chance = random.Random(f"faults {seed}")
    deck = _Deck(kinds, chance)
    sizes = [min(a_round, count - start) for start in range(0, count, a_round)]
    return [list(_round(size, deck, chance)) for size in sizes]


class _Deck:
    def __init__(self, kinds: Sequence[Kind], chance: random.Random) -> None:
        self._kinds, self._chance = kinds, chance
        self._cards = deque(chance.sample(kinds, len(kinds)))

    def draw(self, free: dict[tuple[str, str], float], now: float) -> tuple[Kind, list[str]] | None:
        """The next kind that has a target nobody holds, and those targets; None where all are held."""
        if not self._cards:
            cards = [kind for kind in self._kinds for _ in range(kind.weight)]
            self._cards.extend(self._chance.sample(cards, len(cards)))
        for place, kind in enumerate(self._cards):
            targets = [each for each in kind.targets if free.get((kind.grip, each), 0.0) <= now]
            if targets:
                del self._cards[place]
                return kind, targets
        return None


def _round(size: int, deck: _Deck, chance: random.Random) -> Iterator[Fault]:
    free: dict[tuple[str, str], float] = {}
    now, drawn = 0.0, 0
    while drawn < size:
        now = round(now + chance.uniform(*GAP), 3)
        found = deck.draw(free, now)
        if found is None:
            continue
        kind, targets = found
        target = chance.choice(targets)
        fault = Fault(now, kind.name, target, round(chance.uniform(*kind.seconds), 3), chance.random())
        free[kind.grip, target] = now + fault.seconds + kind.rest
        drawn += 1
        yield fault
