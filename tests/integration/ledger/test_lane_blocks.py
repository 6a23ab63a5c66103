"""What a claim of a flow reads: no more beside many lanes that cannot go, old versions of lanes, or odd statistics."""

from collections.abc import Callable
from uuid import UUID

import pytest

from tests.integration.ledger.flows import UNLOCK, announce, in_flight
from tests.integration.ledger.ledger import Connection, Ledger

pytestmark = pytest.mark.database

FILL = "insert into switchyard.action (action_name, lane) select 'hook', 'lane ' || n from generate_series(1, %s) as n, generate_series(1, %s)"
EXPLAIN = "explain (analyze, buffers, format json) select * from switchyard.{}"
END = """insert into switchyard.event (action_uuid, status, run, attempt)
  select y.action_uuid, 'SUCCESSFUL', y.run, y.attempt + 1 from switchyard.yard y where y.action_uuid = any (%s)"""


def read(connection: Connection, call: str) -> int:
    """The blocks that a claim touches."""
    [(plan,)] = connection.execute(EXPLAIN.format(call).encode()).fetchall()
    top = plan[0]["Plan"]
    count: int = top["Shared Hit Blocks"] + top["Shared Read Blocks"]
    return count


def claimed(connection: Connection, wanted: int) -> list[UUID]:
    [(uuids,)] = connection.execute(
        "select uuids from switchyard.lane_claim('hook', %s)", [wanted]
    ).fetchall()
    found: list[UUID] = uuids
    return found


def finish(connection: Connection, uuids: list[UUID]) -> None:
    connection.execute(END, [uuids])
    connection.execute(UNLOCK, [uuids])
    connection.execute("select switchyard.lane_claim('hook', 0)")


def full(connection: Connection, many: int) -> None:
    """Each has one in flight, of another session, and one more waiting."""
    connection.execute(FILL, [many, 2])
    assert len(claimed(connection, 2 * many)) == many


def waiting(connection: Connection, many: int) -> None:
    """Each has used its only token."""
    announce(connection, lane_rate=0.001, lane_burst=1)
    connection.execute(FILL, [many, 2])
    finish(connection, claimed(connection, 2 * many))


def empty(connection: Connection, many: int) -> None:
    connection.execute(FILL, [many, 1])
    finish(connection, claimed(connection, many))


def blocks_beside(ledger: Ledger, lanes: Callable[[Connection, int], None], many: int) -> int:
    """What the claim of one action in a new lane reads beside this many of those."""
    announce(ledger.connection, lane_in_flight=1)
    with ledger.database.connect() as other, ledger.database.connect() as worker:
        lanes(other, many)
        claimed(worker, 1)
        for number in range(4):  # what the claims before have left behind is tidied up by then
            uuid = ledger.submit("hook", lane=f"new {number}")
            found = read(worker, "lane_claim('hook', 1)")
            finish(worker, [uuid])
        other.execute("select switchyard.cancel(action_uuid, 'ann', 'x') from switchyard.yard")
        other.execute("select pg_advisory_unlock_all()")
    ledger.connection.execute("select switchyard.withdraw_flows('{}')")
    return found


@pytest.mark.parametrize("lanes", [full, waiting, empty])
def test_lanes_that_cannot_go_cost_a_claim_nothing(
    ledger: Ledger, lanes: Callable[[Connection, int], None]
) -> None:
    few, many = blocks_beside(ledger, lanes, 20), blocks_beside(ledger, lanes, 1500)
    assert many <= 1.5 * few + 20


def test_lanes_that_had_their_turn_are_not_walked_again(ledger: Ledger) -> None:
    """All lanes enter at once; an old snapshot keeps every version of them."""
    announce(ledger.connection)
    with ledger.database.connect(autocommit=False) as holder, ledger.database.connect() as worker:
        holder.execute("set transaction isolation level repeatable read")
        holder.execute("select count(*) from switchyard.lane")
        ledger.connection.execute(FILL, [600, 2])
        found = []
        for _ in range(400):
            found.append(read(worker, "lane_claim('hook', 1)"))
            uuids = [row[0] for row in worker.execute("select unnest(ids) from switchyard.flow_session")]
            finish(worker, uuids)
        assert max(found[-5:]) <= 2 * max(found[5:10])
    assert in_flight(ledger.connection) == {}


@pytest.mark.parametrize("call", ["lane_claim('hook', 5)", "claim('plain', 5)"])
@pytest.mark.parametrize("analysed", ["while it was empty", "while it was full"])
def test_plans_do_not_depend_on_when_the_queue_was_analysed(ledger: Ledger, call: str, analysed: str) -> None:
    connection = ledger.connection
    announce(connection, lane_in_flight=50)
    many = "insert into switchyard.action (action_name, lane) select %s, 'A' from generate_series(1, 5000)"
    if analysed == "while it was empty":
        connection.execute("analyze switchyard.yard")
    for name in ("hook", "plain"):
        connection.execute(many, [name])
    if analysed == "while it was full":
        connection.execute("analyze switchyard.yard")
    with ledger.database.connect() as worker:
        for _ in range(4):  # planning reads blocks too
            for name in ("hook", "plain"):
                connection.execute(many.replace("5000", "5").encode(), [name])
            held = "(select coalesce((select ids from switchyard.flow_session limit 1), '{}'))"
            found = read(worker, call.replace("'hook', 5", f"'hook', 5, {held}"))
        assert found < 120  # a walk of any index over all rows would read more
