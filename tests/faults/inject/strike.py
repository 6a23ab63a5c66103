"""The shape of an injection, and what several of them need."""

import time
from collections.abc import Callable

from tests.faults.plan import Fault
from tests.faults.yard import Yard
from tests.parts.proxy import Proxy

PATIENCE = 1.5

Heal = Callable[[], None]
Injection = Callable[[Yard, Fault], Heal]


class Missed(Exception):  # noqa: N818 - it is nobody's error
    """There was nothing to hit."""


def over() -> None:
    """A blow needs no healing: what it hit has to help itself."""


def in_use(network: Proxy) -> Proxy:
    """That network, as soon as somebody is connected through it; one that is just coming up is waited for."""
    deadline = time.monotonic() + PATIENCE
    while not network.far_ports():
        if time.monotonic() > deadline:
            raise Missed
        time.sleep(0.05)
    return network
