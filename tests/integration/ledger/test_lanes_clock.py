"""Lanes on a server whose clock was ahead and was set back: nothing waits until it is ahead again."""

import pytest

from tests.integration.ledger.flows import Worker, announce, fill, in_flight
from tests.parts.clock import Clock
from tests.parts.database import Database
from tests.waiting import until

pytestmark = pytest.mark.database
AHEAD = 3600


def test_slots_of_a_session_that_died_while_the_clock_was_ahead_come_free(
    server: Database, clock: Clock
) -> None:
    with server.connect() as connection:
        announce(connection, lane_in_flight=2)
        fill(connection, 2, "A")
        lost = Worker(server.connect())
        other = Worker(connection)
        assert lost.claim() == ["A", "A"]
        clock.shift(AHEAD)
        assert other.claim() == []
        lost.connection.close()
        clock.shift(0)
        until(other.claim)
        assert in_flight(connection) == {"A": 2}


def test_a_lane_that_waited_for_its_rate_while_the_clock_was_ahead_continues(
    server: Database, clock: Clock
) -> None:
    with server.connect() as connection:
        announce(connection, lane_rate=20, lane_burst=1)
        fill(connection, 3, "A")
        worker = Worker(connection)
        clock.shift(AHEAD)
        assert worker.claim() == ["A"]
        clock.shift(0)
        until(worker.claim)
        until(worker.claim)
