"""A short campaign: each kind of fault at least once, under load, and everything still holds."""

import pytest
from rich.console import Console

from tests.faults.campaign import campaign
from tests.faults.catalogue import kinds
from tests.faults.evidence import show_events
from tests.faults.report import found, show
from tests.faults.yard import yard

SEED = 7
LOAD = 150


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_every_kind_of_fault_and_nothing_is_lost_or_doubled() -> None:
    console = Console()
    with yard() as everything:
        possible = kinds(everything)
        rounds = list(campaign(everything, SEED, len(possible), len(possible), LOAD))
        show(console, rounds, everything.missing)
        show_events(console, everything, found(rounds))
        assert found(rounds) == []
        assert rounds[-1].actions >= LOAD
        hits = sum(done.hits.total() for done in rounds)
        assert hits >= len(possible) - 3, "most faults hit what they were meant to"
        assert set(everything.stop().values()) == {0}
