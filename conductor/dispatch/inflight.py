"""The in-flight table: every action whose lock this worker holds, from claim to unlock.

The number of locks held is always the length of this table. The two lists beside it index
the records by what is to be done next, so that a turn of the worker need not walk the whole table.
"""

from collections.abc import Callable, Iterable, Iterator
from uuid import UUID

from conductor.action import ClaimedAction, Decision, State


class InFlight:
    """Records by uuid, and lists of those that wait to be written."""

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
        """The uuids of all actions whose locks this worker holds."""
        return list(self._actions)

    @property
    def decided(self) -> int:
        """How many decided actions wait for their first write."""
        return len(self._decided)

    @property
    def blocked(self) -> int:
        """How many could not be written because other transactions lock their rows."""
        return len(self._blocked)

    @property
    def undecided(self) -> int:
        """How many have no outcome that may be recorded yet."""
        return len(self._actions) - len(self._decided) - len(self._blocked)

    def add(self, actions: Iterable[ClaimedAction]) -> None:
        """Add claimed actions; those already decided wait to be written."""
        for action in actions:
            self._actions[action.uuid] = action
            if action.state is State.DECIDED:
                self._wait(action)

    def decide(self, action: ClaimedAction, decision: Decision) -> None:
        """Set the event to write for an action."""
        action.decision, action.state = decision, State.DECIDED
        self._wait(action)

    def take(self, *, decided: bool, blocked: bool) -> list[ClaimedAction]:
        """Take the actions to write now; those that cannot be written are returned with `block`."""
        taken: list[ClaimedAction] = []
        if decided:
            taken, self._decided = self._decided, []
        if blocked:
            taken, self._blocked = taken + self._blocked, []
        return taken

    def block(self, actions: Iterable[ClaimedAction]) -> None:
        """Mark actions that could not be written; their locks are kept."""
        self._blocked += actions

    def remove(self, actions: Iterable[ClaimedAction]) -> None:
        """Remove actions whose locks were released."""
        for action in actions:
            action.state = State.RELEASED
            del self._actions[action.uuid]

    def clear(self) -> int:
        """Remove everything after the session was lost; returns how many there were."""
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
