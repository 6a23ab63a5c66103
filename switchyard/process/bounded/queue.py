"""The queue of calls for a child: bounded, groups in turn, no group on all children at once."""

import threading
from collections import Counter, OrderedDict, deque
from typing import Generic, Protocol, TypeVar

from switchyard.errors import PoolUnavailable


class Grouped(Protocol):
    """A queued call; those without a group, "", may use every child."""

    group: str


Item = TypeVar("Item", bound=Grouped)


class Queue(Generic[Item]):
    """First in, first out within a group; between groups in turn."""

    def __init__(self, *, most: int, of_a_group: int) -> None:
        self._most, self._of_a_group = most, max(1, of_a_group)
        self._waiting: OrderedDict[str, deque[Item]] = OrderedDict()
        self._running: Counter[str] = Counter()
        self._active: set[Item] = set()
        self._changed = threading.Condition()
        self._closed = False

    def put(self, item: Item) -> None:
        """Add a call to the queue."""
        with self._changed:
            if self._closed:
                raise PoolUnavailable("the pool of evaluating processes is closed")
            if sum(map(len, self._waiting.values())) >= self._most:
                raise PoolUnavailable(f"{self._most} evaluations are waiting already")
            self._waiting.setdefault(item.group, deque()).append(item)
            self._changed.notify()

    def take(self) -> Item | None:
        """Wait for the next call; None after `close`."""
        with self._changed:
            while not self._closed:
                group = self._next()
                if group is not None:
                    return self._taken(group)
                self._changed.wait()
            return None

    def done(self, item: Item) -> None:
        """Note that a taken call has ended."""
        with self._changed:
            self._active.discard(item)
            self._running[item.group] -= 1
            if not self._running[item.group]:
                del self._running[item.group]
            self._changed.notify()

    def remove(self, item: Item) -> None:
        """Remove a call that was not taken yet."""
        with self._changed:
            line = self._waiting.get(item.group)
            if line and item in line:
                line.remove(item)
                if not line:
                    del self._waiting[item.group]

    def close(self) -> list[Item]:
        """Close the queue; returns the waiting and the taken calls."""
        with self._changed:
            self._closed = True
            left = [*self._active, *(item for line in self._waiting.values() for item in line)]
            self._waiting.clear()
            self._changed.notify_all()
            return left

    def _next(self) -> str | None:
        """The group whose turn it is; None if none may use a child now."""
        for group in self._waiting:
            if not group or self._running[group] < self._of_a_group:
                return group
        return None

    def _taken(self, group: str) -> Item:
        line = self._waiting.pop(group)
        item = line.popleft()
        if line:
            self._waiting[group] = line  # at the end: the other groups are first now
        self._running[group] += 1
        self._active.add(item)
        return item
