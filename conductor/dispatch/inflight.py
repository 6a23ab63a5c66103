"""Every action whose lock this worker holds, in one table, from its claim until its lock is given back.

The number of locks held is the length of this table, by structure. The two lists beside it are an index of
the same records by what is to be done with them: a turn of the worker need not walk the whole table.
"""

from collections.abc import Callable, Iterable, Iterator
from uuid import UUID

from conductor.action import ClaimedAction, Decision, State


class InFlight:
    """Records by uuid, and those of them that wait to be written."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._actions: dict[UUID, ClaimedAction] = {}
        self._decided: list[ClaimedAction] = []
        self._blocked: list[ClaimedAction] = []
        self.first_decided_at = 0.0

    def __len__(self) -> int:
        return len(self._actions)

    def __contains__(self, uuid: UUID) -> bool:
        return uuid in self._actions

    def __iter__(self) -> Iterator[ClaimedAction]:
        return iter(self._actions.values())

    @property
    def uuids(self) -> list[UUID]:
        """The actions whose locks are ours."""
        return list(self._actions)

    @property
    def decided(self) -> int:
        """How many wait to be written for the first time."""
        return len(self._decided)

    @property
    def blocked(self) -> int:
        """How many could not be written because somebody else holds their rows."""
        return len(self._blocked)

    @property
    def undecided(self) -> int:
        """How many have no outcome yet, or none that may be recorded yet."""
        return len(self._actions) - len(self._decided) - len(self._blocked)

    def add(self, actions: Iterable[ClaimedAction]) -> None:
        """They were claimed; what came decided waits to be written."""
        for action in actions:
            self._actions[action.uuid] = action
            if action.state is State.DECIDED:
                self._wait(action)

    def decide(self, action: ClaimedAction, decision: Decision) -> None:
        """Its event is known."""
        action.decision, action.state = decision, State.DECIDED
        self._wait(action)

    def take(self, *, decided: bool, blocked: bool) -> list[ClaimedAction]:
        """Those that are to be written now; what is not written comes back with `block`."""
        taken: list[ClaimedAction] = []
        if decided:
            taken, self._decided = self._decided, []
        if blocked:
            taken, self._blocked = taken + self._blocked, []
        return taken

    def block(self, actions: Iterable[ClaimedAction]) -> None:
        """They could not be written: their locks stay."""
        self._blocked += actions

    def remove(self, actions: Iterable[ClaimedAction]) -> None:
        """Their locks were given back."""
        for action in actions:
            action.state = State.RELEASED
            del self._actions[action.uuid]

    def clear(self) -> int:
        """The session is gone, and every lock with it; how many there were."""
        dropped = len(self._actions)
        for action in self._actions.values():
            action.state = State.RELEASED
        self._actions.clear()
        self._decided.clear()
        self._blocked.clear()
        return dropped

    def _wait(self, action: ClaimedAction) -> None:
        if not self._decided:
            self.first_decided_at = self._clock()
        self._decided.append(action)
