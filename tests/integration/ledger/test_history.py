"""Claiming costs the same with history as without: blocks touched, not seconds. The full size is a benchmark."""

from typing import Any

import psycopg
import pytest

from tests.integration.ledger.ledger import Ledger

pytestmark = pytest.mark.database

PAST = """
select switchyard.attach_partition(parent, 'd' || n, '2020-01-01Z'::timestamptz + make_interval(days => n),
  '2020-01-01Z'::timestamptz + make_interval(days => n + 1))
from generate_series(0, 11) as n, unnest(array['action', 'thread', 'event']) as parent
"""

FETCHED = "select coalesce(idx_tup_fetch, 0) from pg_stat_xact_user_tables where relname = 'yard'"


def blocks(connection: psycopg.Connection[Any]) -> int:
    """Blocks that a claim of 20 touches, the caches warm."""
    claim = "explain (analyze, buffers, format json) select * from switchyard.claim('noop', 20)"
    for _ in range(3):
        [(plan,)] = connection.execute(claim).fetchall()
        connection.execute("select pg_advisory_unlock_all(), switchyard.forget_position()")
    top = plan[0]["Plan"]
    count: int = top["Shared Hit Blocks"] + top["Shared Read Blocks"]
    return count


def test_a_claim_touches_no_more_blocks_after_twenty_thousand_actions(ledger: Ledger) -> None:
    connection = ledger.connection
    connection.execute(PAST)
    connection.execute(
        "insert into switchyard.action (action_name) select 'noop' from generate_series(1, 2000)"
    )
    connection.execute("vacuum analyze")
    without = blocks(connection)
    for day in range(12):
        connection.execute(
            "insert into switchyard.action (action_uuid, action_name) select switchyard.uuid7("
            "'2020-01-01Z'::timestamptz + make_interval(days => %s, secs => n)), 'noop' from generate_series(1, 1700) n",
            [day],
        )
        connection.execute(
            "insert into switchyard.event (action_uuid, status, run, attempt) select action_uuid, 'SUCCESSFUL', 1, 1 "
            "from switchyard.yard where action_uuid < switchyard.uuid_floor('2021-01-01Z')"
        )
        connection.execute("vacuum switchyard.yard")
    connection.execute("vacuum analyze")
    assert connection.execute("select count(*) from switchyard.yard").fetchall() == [(2000,)]
    assert blocks(connection) <= 1.1 * without


def test_a_claim_does_not_walk_a_yard_of_which_nothing_is_known(ledger: Ledger) -> None:
    connection = ledger.connection  # no ANALYZE has seen what is in the yard
    connection.execute(
        "insert into switchyard.action (action_name) select 'noop' from generate_series(1, 2000)"
    )
    with connection.transaction():
        [(before,)] = connection.execute(FETCHED).fetchall()
        connection.execute("select * from switchyard.claim('noop', 20)")
        [(after,)] = connection.execute(FETCHED).fetchall()
    assert after - before <= 2 * 20, "each that it takes is looked at twice"
