"""The shape of an injection."""

from collections.abc import Callable

from tests.faults.plan import Fault
from tests.faults.yard import Yard

Heal = Callable[[], None]
Injection = Callable[[Yard, Fault], Heal]


class Missed(Exception):  # noqa: N818 - it is no error of anybody
    """There was nothing to hit."""


def over() -> None:
    """A blow needs no healing: what it hit has to help itself."""
