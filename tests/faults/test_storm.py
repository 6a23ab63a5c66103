"""The storm strikes in order, heals what lasts while others strike, and tells what hit nothing."""

from collections.abc import Callable
from typing import cast

from tests.faults.inject.strike import Heal, Missed
from tests.faults.plan import Fault
from tests.faults.storm import storm
from tests.faults.yard import Yard


class Quiet:
    """Nobody to tend: what is tested is who is struck when."""

    def tend(self) -> None:
        """Nothing ends here."""


def note(said: list[str], what: str) -> Callable[[], None]:
    return lambda: said.append(what)


def test_struck_in_order_and_healed_when_its_time_is_over() -> None:
    said: list[str] = []

    def strike(yard: Yard, fault: Fault) -> Heal:
        said.append(f"strike {fault.target}")
        return note(said, f"heal {fault.target}")

    def miss(yard: Yard, fault: Fault) -> Heal:
        raise Missed

    faults = [
        Fault(0.0, "strike", "long", 0.3, 0.0),
        Fault(0.0, "miss", "nobody", 5.0, 0.0),
        Fault(0.05, "strike", "short", 0.05, 0.0),
        Fault(0.2, "strike", "blow", 0.0, 0.0),
    ]
    struck = storm(cast("Yard", Quiet()), faults, {"strike": strike, "miss": miss})
    order = ("strike long", "strike short", "heal short", "strike blow", "heal blow", "heal long")
    assert tuple(said) == order
    assert [each.fault.target for each in struck if each.hit] == ["long", "short", "blow"]
    assert [each.fault.target for each in struck if not each.hit] == ["nobody"]
