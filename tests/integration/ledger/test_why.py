"""why: the sentence of each state, and whether what it says is what then happens."""

import json
import random
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from benchmarks.ledger.estimates import coverage
from tests.integration.ledger.ledger import Connection, Ledger, claim

pytestmark = pytest.mark.database

IN_LINE = {"in_line", "rate", "breaker"}


def why(connection: Connection, uuid: UUID) -> dict[str, Any]:
    [(detail, sentence)] = connection.execute(
        "select switchyard.why_detail(%s), switchyard.why(%s)", [uuid, uuid]
    ).fetchall()
    assert detail["sentence"] == sentence
    found: dict[str, Any] = detail
    return found


def serve(connection: Connection, name: str = "noop", **state: float) -> None:
    connection.execute(
        "insert into switchyard.worker (kind, host, action_name, slots, state) values ('conductor', 'h1', %s, 4, %s)",
        [name, json.dumps(state)],
    )


def test_newuser_8_each_reason_has_its_sentence(ledger: Ledger) -> None:
    connection = ledger.connection
    first, second = ledger.submit(), ledger.submit()
    assert why(connection, first)["sentence"] == "No conductor serves the action name noop."
    serve(connection)
    assert why(connection, first)["sentence"] == (
        "It is next in the line of noop, served by 1 worker with 4 slots."
    )
    assert why(connection, second)["sentence"] == (
        "It is number 2 in the line of noop, served by 1 worker with 4 slots."
    )
    connection.execute("select switchyard.pause('noop', 'ann', 'not before Monday')")
    paused = why(connection, first)
    assert (paused["kind"], paused["actor"]) == ("paused", "ann")
    assert paused["sentence"].startswith("noop is paused by ann since ")
    assert paused["sentence"].endswith("UTC: not before Monday.")
    later = ledger.submit(start_after="2126-01-31T08:00Z")
    assert "at 2126-01-31 08:00:00 UTC; noop is also paused by ann" in why(connection, later)["sentence"]
    connection.execute("select switchyard.resume('noop', 'ann', 'it is Monday')")
    connection.execute(
        "insert into switchyard.event (action_uuid, status, run, attempt, error, retry_seconds)"
        " values (%s, 'BACKOFF', 1, 1, E'answered 503\nbody', 3600)",
        [second],
    )
    assert why(connection, second)["sentence"].startswith(
        "Attempt 1 failed (answered 503); it is tried again in 60 min, at "
    )
    ledger.event(first, "FAILED", 1, 1)
    assert why(connection, first)["kind"] == "ended"


def test_what_the_backend_reported_is_in_the_sentence(ledger: Ledger) -> None:
    uuid = ledger.submit("argo", workflow="ndvi")
    report = (
        "insert into switchyard.event (action_uuid, status, run, attempt, detail) values (%s, %s, 1, 1, %s)"
    )
    ledger.connection.execute(report, [uuid, "QUEUED", None])
    assert why(ledger.connection, uuid)["sentence"] == (
        "It was handed over to its backend less than a second ago and waits there."
    )
    ledger.connection.execute(report, [uuid, "INFO", json.dumps({"message": "Unschedulable: no node"})])
    assert "waits there: Unschedulable: no node." in why(ledger.connection, uuid)["sentence"]
    ledger.connection.execute(report, [uuid, "RUNNING", json.dumps({"progress": 0.25, "step": "cut"})])
    assert "and runs, 25 % done: cut." in why(ledger.connection, uuid)["sentence"]
    ledger.connection.execute(report, [uuid, "INFO", json.dumps({"progress": "a quarter"})])
    assert why(ledger.connection, uuid)["kind"] == "at_backend"


def test_a_dead_conductors_at_most_once_action_is_an_orphan_and_a_living_ones_is_not(ledger: Ledger) -> None:
    uuid = ledger.submit()
    with ledger.database.connect() as conductor:
        claim(conductor)
        ledger.event(uuid, "RUNNING", 1, 1)
        assert why(ledger.connection, uuid)["kind"] == "dispatching"
        conductor.execute("select pg_advisory_unlock_all()")
    assert why(ledger.connection, uuid)["kind"] == "orphaned"


def test_what_is_held_waits_for_those_of_its_actions_that_are_open(ledger: Ledger) -> None:
    first, second = ledger.submit(), ledger.submit("other")
    waiter = ledger.submit(after=[first, second])
    detail = why(ledger.connection, waiter)
    assert detail["kind"] == "held"
    assert detail["sentence"] == (
        f"It waits for 2 of 2 actions, among them {first} of noop (PENDING); no conductor serves the action name noop now."
    )
    ledger.event(first, "SUCCESSFUL", 1, 1)
    serve(ledger.connection)
    assert why(ledger.connection, waiter)["sentence"] == (
        f"It waits for 1 of 2 actions, among them {second} of other (PENDING)."
    )
    assert waiter not in ledger.claim()


def test_limits_are_as_the_workers_last_reported_them(ledger: Ledger) -> None:
    uuid = ledger.submit()
    serve(ledger.connection, tokens=0.4, breaker_factor=1.0)
    assert why(ledger.connection, uuid)["sentence"].endswith("which is at its rate limit.")
    serve(ledger.connection, tokens=0.1, breaker_factor=0.25)
    assert why(ledger.connection, uuid)["kind"] == "rate"  # one of the two is not slowed
    ledger.connection.execute(
        "update switchyard.worker set ended_at = now() where state ->> 'tokens' = '0.4'"
    )
    slowed = why(ledger.connection, uuid)
    assert slowed["kind"] == "breaker"
    assert "slowed to 25.0 % after errors" in slowed["sentence"]


def test_an_estimate_comes_from_recent_ends_of_the_same_workflow(ledger: Ledger) -> None:
    connection = ledger.connection
    for seconds, workflow in ((10, "short"), (1000, "long")):
        for n in range(10):
            uuid = ledger.submit("argo", workflow=workflow)
            ledger.event(uuid, "SUCCESSFUL", 1, 1)
            connection.execute(
                "update switchyard.thread set started_at = ended_at - make_interval(secs => %s) where action_uuid = %s",
                [seconds + n, uuid],
            )
    for workflow, low, high in (("short", 9.9, 20), ("long", 999, 1010)):
        uuid = ledger.submit("argo", workflow=workflow)
        ledger.event(uuid, "QUEUED", 1, 1)
        estimate = why(connection, uuid)["estimate"]
        assert low - 1 <= estimate["low_seconds"] <= estimate["high_seconds"] <= high
        assert "It will probably end in " in why(connection, uuid)["sentence"]
    unknown = ledger.submit("argo", workflow="new")
    ledger.event(unknown, "QUEUED", 1, 1)
    assert "estimate" not in why(connection, unknown)


def test_few_durations_give_an_interval_up_to_the_outermost_of_them(ledger: Ledger) -> None:
    connection = ledger.connection
    for seconds in range(1, 10):
        uuid = ledger.submit("argo", workflow="few")
        ledger.event(uuid, "SUCCESSFUL", 1, 1)
        connection.execute(
            "update switchyard.thread set started_at = ended_at - make_interval(secs => %s) where action_uuid = %s",
            [seconds, uuid],
        )
    found = connection.execute("select * from switchyard.estimated_seconds('argo', 'few', 0, 0)").fetchone()
    assert found == pytest.approx((1, 9)), (
        "a tenth of the next ones is below the least of nine, and a tenth above the greatest"
    )


def test_most_estimates_hold_in_simulated_workflows(ledger: Ledger) -> None:
    held = coverage(ledger.connection, 12)
    assert held.waiting.made > 100
    assert held.running.made > 100
    # Few futures, each shared by all that wait in it: the benchmark has enough of them for 70 to 90.
    assert 60 <= held.waiting.share <= 95
    assert 60 <= held.running.share <= 95


def test_an_unknown_action_is_an_error(ledger: Ledger) -> None:
    with pytest.raises(psycopg.errors.NoDataFound, match="there is no action"):
        ledger.connection.execute("select switchyard.why(%s)", [uuid4()])


@dataclass
class World:
    """One action name with actions in random states."""

    ledger: Ledger
    chance: random.Random
    name: str
    holder: Connection
    conductor: Connection
    uuids: list[UUID] = field(default_factory=list)

    def build(self) -> None:
        for _ in range(8):
            self.uuids.append(self._action())
        if self.chance.random() < 0.25:
            self.ledger.connection.execute("select switchyard.pause(%s, 'ann', 'why not')", [self.name])
        for _ in range(self.chance.choice([0, 1, 1, 2])):
            state = self.chance.choice([{}, {"tokens": 0.2}, {"tokens": 5, "breaker_factor": 0.5}])
            serve(self.ledger.connection, self.name, **state)

    def _action(self) -> UUID:
        chance, connection = self.chance, self.ledger.connection
        begun = chance.choice(
            ["", "", "", "", "later", "past", "BACKOFF", "BACKOFF", "QUEUED", "RUNNING", "SUCCESSFUL"]
        )
        uuid = self.ledger.submit(
            self.name,
            priority=chance.choice([50, 100, 100]),
            workflow="w" if begun in ("QUEUED", "RUNNING") else None,
            start_after={"later": "2126-01-01Z", "past": "2020-01-01Z"}.get(begun),
        )
        if begun.isupper():
            retry = chance.choice([0, 3600]) if begun == "BACKOFF" else None
            connection.execute(
                "insert into switchyard.event (action_uuid, status, run, attempt, error, retry_seconds) values (%s, %s, 1, 1, 'odd', %s)",
                [uuid, begun, retry],
            )
        if chance.random() < 0.15 and begun in ("", "later", "BACKOFF"):
            self.holder.execute("select pg_advisory_lock(switchyard.uuid_lock(%s))", [uuid])
        return uuid

    def whys(self) -> dict[UUID, dict[str, Any]]:
        rows = self.ledger.connection.execute(
            "select u, switchyard.why_detail(u) from unnest(%s::uuid[]) as u", [self.uuids]
        )
        return dict(rows.fetchall())

    def claimed(self, limit: int) -> set[UUID]:
        """What a conductor would get; it gives it back."""
        got = set(claim(self.conductor, limit, self.name))
        self.conductor.execute("select pg_advisory_unlock_all(), switchyard.forget_position()")
        return got

    def remove(self, kind: str, uuid: UUID) -> None:
        """Take away the reason that the sentence gives, and no other."""
        connection = self.ledger.connection
        if kind == "paused":
            connection.execute("select switchyard.resume(%s, 'ann', 'go on')", [self.name])
        elif kind == "unserved":
            serve(connection, self.name)
        elif kind == "dispatching":
            self.holder.execute("select pg_advisory_unlock(switchyard.uuid_lock(%s))", [uuid])
        elif kind in ("start", "backoff"):
            connection.execute("update switchyard.yard set due = now() where action_uuid = %s", [uuid])
        elif kind == "at_backend":
            self.ledger.event(uuid, "SUCCESSFUL", 1, 1)


def check(world: World) -> None:
    """Each kind against the next claims, until no reason is left."""
    for _ in range(2):
        told = world.whys()
        claimable = world.claimed(100)
        first = cache(world.claimed)  # the first of the line, this many
        for uuid, detail in told.items():
            kind = detail["kind"]
            assert (uuid in claimable) == (kind in IN_LINE | {"unserved"}), detail
            if kind in IN_LINE:
                place = detail["place"]
                assert uuid in first(place), detail
                assert place == 1 or uuid not in first(place - 1), detail
        reasons = {
            kind: uuid
            for uuid, kind in ((u, d["kind"]) for u, d in told.items())
            if kind not in IN_LINE | {"ended"}
        }
        for kind, uuid in reasons.items():
            world.remove(kind, uuid)
        after = world.whys()
        for kind, uuid in reasons.items():
            assert after[uuid]["kind"] != kind, (kind, after[uuid])


@pytest.mark.breaks_ledger
def test_what_the_sentence_says_is_what_then_happens(ledger: Ledger) -> None:
    """2,000 random states: 250 action names with 8 actions each, looked at again as reasons are removed."""
    chance = random.Random(16)
    kinds: set[str] = set()
    with ledger.database.connect() as holder, ledger.database.connect() as conductor:
        for number in range(250):
            world = World(ledger, chance, f"name-{number}", holder, conductor)
            world.build()
            kinds |= {detail["kind"] for detail in world.whys().values()}
            check(world)
            holder.execute("select pg_advisory_unlock_all()")
    assert kinds == IN_LINE | {"start", "backoff", "paused", "unserved", "dispatching", "at_backend", "ended"}
