"""why of actions that have lanes and limits: the limit that the next lane_claim meets."""

import json
from typing import Any
from uuid import UUID

import pytest

from tests.integration.ledger.ledger import Connection, Ledger

pytestmark = pytest.mark.database


def announce(ledger: Ledger, **limits: object) -> None:
    flow = {"flow": "hook", "action_name": "hook", **limits}
    ledger.connection.execute("select switchyard.announce_flows(%s)", [json.dumps([flow])])
    ledger.connection.execute(
        "insert into switchyard.worker (kind, host, action_name, slots) values ('conductor', 'h1', 'hook', 4)"
    )


def lane_claim(connection: Connection, limit: int, held: tuple[UUID, ...] = ()) -> list[UUID]:
    [(uuids,)] = connection.execute(
        "select uuids from switchyard.lane_claim('hook', %s, %s)", [limit, list(held)]
    ).fetchall()
    found: list[UUID] = uuids
    return found


def why(ledger: Ledger, uuid: UUID) -> dict[str, Any]:
    [(detail,)] = ledger.connection.execute("select switchyard.why_detail(%s)", [uuid]).fetchall()
    found: dict[str, Any] = detail
    return found


def test_a_full_lane_does_not_hold_back_another(ledger: Ledger) -> None:
    announce(ledger, lane_in_flight=1)
    first, second = ledger.submit("hook", lane="acme"), ledger.submit("hook", lane="acme")
    other = ledger.submit("hook", lane="zeta")
    with ledger.database.connect() as conductor:
        assert first in lane_claim(conductor, 1)
        assert why(ledger, first)["kind"] == "dispatching"
        full = why(ledger, second)
        assert (full["kind"], full["lane"]) == ("lane_full", "acme")
        assert full["sentence"] == "It is next in lane acme of hook, which has all of its 1 in flight."
        free = why(ledger, other)
        assert (free["kind"], free["sentence"]) == ("in_line", "It is next in lane zeta of hook.")
        assert lane_claim(conductor, 4, (first,)) == [other]
        ledger.event(first, "SUCCESSFUL", 1, 1)
        conductor.execute("select switchyard.unlock(array[switchyard.uuid_lock(%s)])", [first])
        assert lane_claim(conductor, 0, (other,)) == []
        assert why(ledger, second)["kind"] == "in_line"
        assert lane_claim(conductor, 4, (other,)) == [second]


def test_a_limit_of_the_whole_name_is_named(ledger: Ledger) -> None:
    announce(ledger, in_flight=1, lane_in_flight=5)
    first, second = ledger.submit("hook", lane="acme"), ledger.submit("hook", lane="zeta")
    with ledger.database.connect() as conductor:
        assert lane_claim(conductor, 4) == [first]
        assert why(ledger, second)["sentence"] == (
            "It is next in lane zeta of hook, and hook has all of its 1 in flight."
        )
        assert lane_claim(conductor, 4, (first,)) == []


def test_a_rate_of_the_lane_is_named(ledger: Ledger) -> None:
    announce(ledger, lane_rate=0.001, lane_burst=1)
    first, second = ledger.submit("hook", lane="acme"), ledger.submit("hook", lane="acme")
    with ledger.database.connect() as conductor:
        assert lane_claim(conductor, 4) == [first]
        ledger.event(first, "SUCCESSFUL", 1, 1)
        conductor.execute("select switchyard.unlock(array[switchyard.uuid_lock(%s)])", [first])
        assert lane_claim(conductor, 4) == []
        assert why(ledger, second)["kind"] == "rate"
