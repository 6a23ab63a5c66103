"""A short campaign: each kind of fault at least once, under load, and everything still holds."""

import pytest
from rich.console import Console

from tests.faults.campaign import campaign
from tests.faults.catalogue import kinds
from tests.faults.evidence import show_events
from tests.faults.farewell import farewell
from tests.faults.report import found, show
from tests.faults.yard import Yard

SEED = 7
LOAD = 150


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_every_kind_of_fault_and_nothing_is_lost_or_doubled(fault_yard: Yard) -> None:
    possible = kinds(fault_yard)
    rounds = list(campaign(fault_yard, SEED, len(possible), len(possible), LOAD))
    console = Console()  # pytest shows it where the test fails
    show(console, rounds, fault_yard.missing)
    show_events(console, fault_yard, found(rounds))
    assert found(rounds) == []
    assert rounds[-1].actions >= LOAD
    hits = sum(done.hits.total() for done in rounds)
    assert hits >= 0.8 * len(possible), "most faults hit what they were meant to"
    assert list(farewell(fault_yard)) == []
