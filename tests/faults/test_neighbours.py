"""Hostile neighbours disturb nobody else."""

import pytest

from tests.faults.bystanders import Pace, compared, disturbed
from tests.faults.campaign import settle
from tests.faults.yard import Yard


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_unrelated_work_continues_beside_hostile_neighbours(fault_yard: Yard) -> None:
    assert list(disturbed(fault_yard, 7)) == []
    facts = settle(fault_yard)
    assert fault_yard.trespasses == []
    assert (facts.neighbours_open, facts.contradictions, facts.strange_ends) == (0, [], [])


def test_a_slower_pace_is_found() -> None:
    normal = Pace(throughput=50.0, p99=0.2)
    assert list(compared(normal, Pace(throughput=41.0, p99=0.6))) == []
    assert [found.text for found in compared(normal, Pace(throughput=39.0, p99=0.7))] == [
        "39.0 actions/s, 50.0 without hostile neighbours",
        "p99 0.70 s, 0.20 s without hostile neighbours",
    ]
