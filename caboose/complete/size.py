"""Measures the size of a value as JSON without encoding it."""

from typing import Any


class Sizes:
    """Measures values of one document; a value shared by many callbacks is measured once.

    The measure is a lower bound: the compact JSON text, with a character for each number.
    """

    def __init__(self) -> None:
        # With the value, so that its id is not used again while it is remembered here.
        self._known: dict[int, tuple[Any, int]] = {}

    def of(self, value: Any, limit: int) -> int:
        """The size; measuring stops above the limit."""
        if not isinstance(value, dict | list):
            return _own_size(value)
        known = self._known.get(id(value))
        if known is None:
            known = self._known[id(value)] = (value, _walk(value, limit))
        return known[1]


def _walk(value: Any, limit: int) -> int:
    total, waiting = 0, [value]
    while waiting and total <= limit:
        each = waiting.pop()
        total += _own_size(each)
        if isinstance(each, dict):
            total += sum(map(len, each))
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
    return total


def _own_size(value: Any) -> int:
    if isinstance(value, str):
        return 2 + len(value)
    if isinstance(value, dict):
        return 2 + 4 * len(value)
    if isinstance(value, list):
        return 2 + len(value)
    return 1
