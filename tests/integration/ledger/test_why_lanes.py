"""why of actions that have lanes and limits: the limit that the next lane_claim meets."""

import json
import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest

from tests.integration.ledger.flows import Worker
from tests.integration.ledger.ledger import Connection, Ledger

pytestmark = pytest.mark.database

HELD_BACK = {"limited", "lane_full", "breaker", "rate"}
SERVE = "insert into switchyard.worker (kind, host, action_name, slots) values ('conductor', 'h1', %s, 4)"


def announce(ledger: Ledger, **limits: object) -> None:
    flow = {"flow": "hook", "action_name": "hook", **limits}
    ledger.connection.execute("select switchyard.announce_flows(%s)", [json.dumps([flow])])
    ledger.connection.execute(SERVE, ["hook"])


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


def test_executions_at_the_backend_fill_a_lane(ledger: Ledger) -> None:
    announce(ledger, lane_running=1)
    first, second = ledger.submit("hook", lane="acme"), ledger.submit("hook", lane="acme")
    with ledger.database.connect() as conductor:
        assert lane_claim(conductor, 4) == [first]
        ledger.event(first, "QUEUED", 1, 1)
        conductor.execute("select switchyard.unlock(array[switchyard.uuid_lock(%s)])", [first])
        assert lane_claim(conductor, 4) == []
        full = why(ledger, second)
        assert full["sentence"] == "It is next in lane acme of hook, which has all of its 1 at the backend."
        assert (full["kind"], full["lane_in_flight"]) == ("lane_full", 1)


def test_a_slowed_lane_names_its_breaker(ledger: Ledger) -> None:
    announce(ledger, lane_in_flight=4)
    submitted = [ledger.submit("hook", lane="acme") for _ in range(4)]
    with ledger.database.connect() as conductor:
        worker = Worker(conductor)
        worker.claim(1)
        assert worker.claim(4, slowed={"acme": 0.5}) == ["acme"]
        slowed = why(ledger, submitted[2])
        assert slowed["kind"] == "breaker"
        assert "which its breaker has slowed to 50.0 % after errors" in slowed["sentence"]


def test_a_place_counts_the_own_lane_alone(ledger: Ledger) -> None:
    announce(ledger)
    ledger.submit("hook", lane="acme", start_after="2020-01-01Z")
    own = [ledger.submit("hook", lane="zeta", start_after="2020-01-01Z"), ledger.submit("hook", lane="zeta")]
    assert [why(ledger, uuid)["place"] for uuid in own] == [1, 2]


@dataclass
class World:
    """One flow with random limits, and a session that has some of its actions in flight."""

    ledger: Ledger
    chance: random.Random
    name: str
    worker: Worker
    uuids: dict[UUID, str] = field(default_factory=dict)

    def build(self) -> None:
        chance, connection = self.chance, self.ledger.connection
        limits: dict[str, float | None] = {
            "in_flight": chance.choice([None, None, 2, 5]),
            "lane_in_flight": chance.choice([None, 1, 2]),
            "running": chance.choice([None, None, 3]),
            "lane_running": chance.choice([None, None, 1, 2]),
        }
        if chance.random() < 0.3:
            limits |= {"lane_rate": 0.001, "lane_burst": chance.choice([1, 3])}
        if chance.random() < 0.2:
            limits |= {"rate": 0.001, "burst": chance.choice([2, 4])}
        flow = {"flow": self.name, "action_name": self.name, **limits}
        connection.execute("select switchyard.announce_flows(%s)", [json.dumps([flow])])
        connection.execute(SERVE, [self.name])
        for _ in range(8):
            lane = chance.choice("ABC")
            priority = chance.choice([50, 100, 100])
            self.uuids[self.ledger.submit(self.name, lane=lane, priority=priority)] = lane
        for _ in range(chance.choice([0, 1, 2, 3])):
            slowed = {chance.choice("ABC"): 0.4} if chance.random() < 0.3 else None
            self.worker.claim(chance.choice([1, 2, 4]), slowed)
            self.worker.finish(chance.choice([0, 0, 1]), chance.choice(["SUCCESSFUL", "QUEUED"]))
        self.worker.claim(0)

    def whys(self) -> dict[UUID, dict[str, Any]]:
        return dict(self.ledger.connection.execute(
            "select u, switchyard.why_detail(u) from unnest(%s::uuid[]) as u", [list(self.uuids)]).fetchall()
        )  # fmt: skip

    def check(self) -> Counter[str]:
        """Each sentence against the next claim of more than there is."""
        before = self.whys()
        held = set(self.worker.held)
        self.worker.claim(100)
        taken = set(self.worker.held) - held
        after = self.whys()
        for uuid, detail in before.items():
            if uuid in taken:
                assert detail["kind"] == "in_line", detail
            elif detail["kind"] == "in_line":  # it was not the last to fit: what was claimed used up a limit
                assert after[uuid]["kind"] in HELD_BACK, (detail, after[uuid])
        for lane in "ABC":
            places = sorted(before[uuid]["place"] for uuid in taken if self.uuids[uuid] == lane)
            assert places == list(range(1, len(places) + 1)), "a lane goes by its places"
        return Counter(detail["kind"] for detail in before.values())


def test_what_the_sentence_says_of_a_lane_is_what_the_next_claim_does(ledger: Ledger) -> None:
    """2,000 random states: 250 flows with random limits and 8 actions each, looked at before and after a claim."""
    chance = random.Random(16)
    kinds: Counter[str] = Counter()
    with ledger.database.connect() as conductor:
        for number in range(250):
            world = World(ledger, chance, f"flow-{number}", Worker(conductor, f"flow-{number}"))
            world.build()
            kinds += world.check()
            world.worker.unlock(list(world.worker.held))
    assert kinds.total() == 2000
    assert set(kinds) == HELD_BACK | {"in_line", "dispatching", "at_backend", "ended"}
