"""Lanes: exact limits, fair turns, no slot lost and none idle."""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import psycopg
import pytest

from tests.integration.ledger.flows import Worker, announce, fill, in_flight
from tests.integration.ledger.ledger import Ledger
from tests.waiting import until

pytestmark = pytest.mark.database


@pytest.fixture
def workers(ledger: Ledger) -> Iterator[list[Worker]]:
    """Three sessions."""
    with ExitStack() as stack:
        yield [Worker(stack.enter_context(ledger.database.connect())) for _ in range(3)]


def test_newuser_12_no_lane_and_no_name_exceeds_what_may_be_in_flight(
    ledger: Ledger, workers: list[Worker]
) -> None:
    announce(ledger.connection, in_flight=7, lane_in_flight=3)
    for lane in "ABC":
        fill(ledger.connection, 10, lane)
    for worker in workers:
        worker.claim(5)
    found = Counter(lane for worker in workers for lane in worker.held.values())
    assert sum(found.values()) == 7
    assert max(found.values()) == 3
    assert in_flight(ledger.connection) == found


def test_a_slot_that_came_free_is_used_by_the_next_claim(ledger: Ledger, workers: list[Worker]) -> None:
    first, second, _ = workers
    announce(ledger.connection, lane_in_flight=2)
    fill(ledger.connection, 5, "A")
    assert first.claim() == ["A", "A"]
    assert second.claim() == []
    assert second.limited
    first.finish(1)
    assert first.claim() == ["A"]
    first.finish()
    assert first.claim(0) == []  # reports only
    assert second.claim() == ["A", "A"]


def test_what_a_dead_session_held_is_claimed_again_within_its_limit(
    ledger: Ledger, workers: list[Worker]
) -> None:
    first, second, _ = workers
    announce(ledger.connection, lane_in_flight=2)
    fill(ledger.connection, 2, "A")
    assert first.claim() == ["A", "A"]
    lost = set(first.held)
    first.connection.close()
    until(second.claim)
    assert set(second.held) == lost
    assert in_flight(ledger.connection) == {"A": 2}


def test_what_is_given_back_without_an_outcome_is_claimed_again(
    ledger: Ledger, workers: list[Worker]
) -> None:
    worker = workers[0]
    announce(ledger.connection, lane_in_flight=2)
    fill(ledger.connection, 3, "A")
    assert worker.claim() == ["A", "A"]
    given_back = list(worker.held)
    worker.unlock(given_back)
    assert worker.claim() == ["A", "A"]
    assert list(worker.held) == given_back


def test_a_new_run_of_what_is_still_in_flight_is_claimed_once_it_is_unlocked(
    ledger: Ledger, workers: list[Worker]
) -> None:
    worker, other, _ = workers
    announce(ledger.connection, lane_in_flight=2)
    fill(ledger.connection, 1, "A")
    worker.claim()
    [uuid] = worker.held
    ledger.connection.execute("select switchyard.cancel(%s, 'ann', 'x')", [uuid])
    ledger.connection.execute("select switchyard.retrigger(%s, 'ann', 'x')", [uuid])
    assert other.claim() == []
    ledger.event(uuid, "SUCCESSFUL", 1, 1)
    worker.unlock([uuid])
    worker.claim(0)
    assert other.claim() == ["A"]


def test_a_lane_with_one_action_has_its_turn_behind_thousands_of_another(
    ledger: Ledger, workers: list[Worker]
) -> None:
    worker = workers[0]
    announce(ledger.connection)
    fill(ledger.connection, 6000, "A")  # more than are read one by one
    assert worker.claim(20) == ["A"] * 20
    fill(ledger.connection, 1, "B")
    assert "B" in worker.claim(20)


@pytest.mark.parametrize("before", [0, 6000])
def test_lanes_have_their_first_turns_in_the_order_of_their_first_actions(
    ledger: Ledger, workers: list[Worker], before: int
) -> None:
    """Also where too many arrived to be read one by one."""
    announce(ledger.connection, lane_in_flight=1)
    order = ["L", "B", "Z", "A", "M"]
    for _ in range(2):
        for lane in order:
            fill(ledger.connection, 1, lane)
    fill(ledger.connection, before, "Y")
    assert [workers[0].claim(1) for _ in order] == [[lane] for lane in order]


def test_weights_decide_how_often_a_lane_has_its_turn(ledger: Ledger, workers: list[Worker]) -> None:
    worker = workers[0]
    announce(ledger.connection, weights={"B": 3})
    for lane in "AB":
        fill(ledger.connection, 600, lane)
    taken: Counter[str] = Counter()
    for _ in range(80):
        taken.update(worker.claim(10))
        worker.finish()
    assert taken["B"] / taken["A"] == pytest.approx(3, rel=0.05)


def test_lanes_that_are_full_do_not_delay_others_and_no_slot_is_idle(
    ledger: Ledger, workers: list[Worker]
) -> None:
    announce(ledger.connection, in_flight=10, lane_in_flight=4)
    fill(ledger.connection, 50, "A")
    fill(ledger.connection, 2, "B")
    fill(ledger.connection, 50, "C")
    lanes = Counter(workers[0].claim(100))
    assert lanes == {"A": 4, "B": 2, "C": 4}


def test_a_claim_of_one_finds_work_behind_lanes_that_have_become_empty(
    ledger: Ledger, workers: list[Worker]
) -> None:
    worker = workers[0]
    announce(ledger.connection, lane_in_flight=1)
    ledger.connection.execute(
        "insert into switchyard.action (action_name, lane) select 'hook', 'lane ' || n from generate_series(1, 400) as n"
    )
    assert len(worker.claim(400)) == 400
    worker.finish()
    worker.claim(0)  # every lane has a free slot again, and nothing to do
    fill(ledger.connection, 2, "B")
    assert worker.claim(1) == ["B"]


def test_what_waits_behind_the_position_stays_known_beside_a_lane_that_has_become_empty(
    ledger: Ledger, workers: list[Worker]
) -> None:
    worker = workers[0]
    announce(ledger.connection, lane_in_flight=1)
    fill(ledger.connection, 1, "empty")
    fill(ledger.connection, 1, "A")
    assert sorted(worker.claim()) == ["A", "empty"]
    worker.finish()
    fill(ledger.connection, 2, "A", priority=1)
    assert worker.claim() == ["A"]
    worker.finish()
    assert worker.claim() == ["A"]


def test_a_rate_holds_back_and_says_when_to_look_again(ledger: Ledger, workers: list[Worker]) -> None:
    worker = workers[0]
    announce(ledger.connection, lane_rate=5, lane_burst=2)
    fill(ledger.connection, 10, "A")
    fill(ledger.connection, 1, "B")
    assert sorted(worker.claim()) == ["A", "A", "B"]
    worker.finish()
    assert worker.claim() == []
    assert worker.held_back
    assert worker.due_in is not None
    assert 0 < worker.due_in <= 0.2
    until(lambda: worker.claim() == ["A"])


def test_the_rate_of_the_name_is_shared_by_all_sessions(ledger: Ledger, workers: list[Worker]) -> None:
    announce(ledger.connection, rate=0.01, burst=3)
    fill(ledger.connection, 10, None)
    assert sum(len(worker.claim()) for worker in workers) == 3


def test_within_a_lane_priority_goes_first_then_age(ledger: Ledger, workers: list[Worker]) -> None:
    worker = workers[0]
    announce(ledger.connection, lane_in_flight=5)
    old = ledger.submit("hook", lane="A")
    ledger.submit("hook", lane="A")
    urgent = ledger.submit("hook", lane="A", priority=1)
    worker.claim(1)
    assert list(worker.held) == [urgent]
    more = ledger.submit("hook", lane="A", priority=2)
    worker.claim(2)
    assert list(worker.held) == [urgent, more, old]


def test_late_commits_retriggers_and_due_backoffs_behind_the_position_are_found(
    ledger: Ledger, workers: list[Worker]
) -> None:
    worker = workers[0]
    announce(ledger.connection, lane_in_flight=50)
    with ledger.database.connect(autocommit=False) as late:
        [(missed,)] = late.execute("select switchyard.submit('hook', lane => 'A')").fetchall()
        fill(ledger.connection, 10, "A")
        worker.claim(5)
        failed, backed_off = list(worker.held)[:2]
        worker.finish(1, "FAILED")
        worker.finish(1, "BACKOFF", retry=0.05)
        worker.claim(2)
        late.commit()
    ledger.connection.execute("select switchyard.retrigger(%s, 'ann', 'x')", [failed])
    until(lambda: worker.claim(3) and {missed, failed, backed_off} <= set(worker.held))
    worker.claim(50)
    assert len(worker.held) == 11


def test_the_breaker_of_a_lane_lowers_its_limits_alone(ledger: Ledger, workers: list[Worker]) -> None:
    worker = workers[0]
    announce(ledger.connection, lane_in_flight=4)
    for lane in "AB":
        fill(ledger.connection, 20, lane)
    worker.claim(2)
    worker.finish()
    assert Counter(worker.claim(20, slowed={"A": 0.5})) == {"A": 2, "B": 4}
    worker.finish()
    assert Counter(worker.claim(20, slowed={"A": 0.0001})) == {"A": 1, "B": 4}
    worker.finish()
    assert Counter(worker.claim(20, slowed={"A": 1e9})) == {"A": 4, "B": 4}


def test_executions_at_the_backend_count_until_they_end(ledger: Ledger, workers: list[Worker]) -> None:
    worker = Worker(workers[0].connection, "argo/ndvi")
    connection = ledger.connection
    announce(connection, "argo")
    connection.execute(
        """select switchyard.announce_flows('[{"flow": "argo/ndvi", "action_name": "argo", "workflow": "ndvi",
          "running": 3, "lane_running": 2}]')"""
    )
    for lane in "AABBBC":
        ledger.submit("argo", workflow="ndvi", lane=lane)
    ledger.submit("argo", workflow="other")
    assert len(worker.claim()) == 3
    ids = list(worker.held)
    worker.finish(status="QUEUED")
    assert worker.claim() == []
    ledger.event(ids[0], "SUCCESSFUL")
    until(lambda: len(worker.claim()) == 1)
    assert Worker(workers[1].connection, "argo").claim() == [""]


def test_a_dispatch_without_a_handover_frees_its_place_at_the_backend_at_once(
    ledger: Ledger, workers: list[Worker]
) -> None:
    worker = workers[0]
    announce(ledger.connection, lane_running=1)
    fill(ledger.connection, 2, "A")
    assert worker.claim() == ["A"]
    assert worker.claim() == []
    worker.finish(status="FAILED")
    assert worker.claim() == ["A"]


def test_actions_that_were_there_before_the_limits_come_under_them(
    ledger: Ledger, workers: list[Worker]
) -> None:
    fill(ledger.connection, 5, "A")
    [(held,)] = ledger.connection.execute("select uuids from switchyard.claim('hook', 1)").fetchall()
    announce(ledger.connection, lane_in_flight=2)
    assert workers[0].claim() == ["A", "A"]
    assert not set(held) & set(workers[0].held)
    assert ledger.claim(5, "hook", held) == []


def test_actions_that_were_there_before_the_path_go_to_the_lane_that_it_finds(
    ledger: Ledger, workers: list[Worker]
) -> None:
    found = ['{"customer": "acme"}'] * 3 + ['{"customer": 7}', '{"customer": {"id": 1}}', "{}"]
    for parameters in found:
        ledger.submit("hook", parameters=parameters)
    ledger.submit("hook", parameters='{"customer": "acme"}', lane="given")
    waiting = ledger.submit("hook", parameters='{"customer": "late"}', start_after="2020-01-01")
    announce(ledger.connection, lane_path="$.customer", lane_in_flight=1)
    ledger.submit("hook", parameters='{"customer": "acme"}')
    assert sorted(workers[0].claim()) == ["", "7", "acme", "given"]
    assert workers[0].due_in is not None
    assert workers[0].due_in <= 0  # what just became due is adopted by the next one
    assert workers[1].claim() == ["late"]
    assert workers[0].claim() == []
    rows = ledger.connection.execute("select lane from switchyard.action order by action_uuid").fetchall()
    assert [lane for (lane,) in rows] == [*["acme"] * 3, "7", None, None, "given", "late", "acme"]
    assert list(workers[1].held) == [waiting]


def test_without_the_limits_the_actions_are_claimed_as_before(ledger: Ledger, workers: list[Worker]) -> None:
    announce(ledger.connection, lane_in_flight=1)
    fill(ledger.connection, 3, "A")
    workers[0].claim()
    workers[0].finish()
    assert ledger.claim(5, "hook") == []
    ledger.connection.execute("select switchyard.withdraw_flows('{}')")
    assert len(ledger.claim(5, "hook")) == 2
    assert ledger.connection.execute("select count(*) from switchyard.lane").fetchall() == [(0,)]


def test_the_lane_is_found_in_the_parameters_however_it_is_submitted(ledger: Ledger) -> None:
    announce(ledger.connection, lane_path="$.order.customer")
    submitted = [
        ledger.submit("hook", parameters='{"order": {"customer": "acme"}}', idempotency_key="1"),
        ledger.submit("hook", parameters='{"order": {"customer": 17}}'),
        ledger.submit("hook", parameters='{"order": {"customer": "acme"}}', lane="given"),
        ledger.submit("hook", parameters="{}"),
    ]
    again = ledger.submit("hook", parameters='{"order": {"customer": "acme"}}', idempotency_key="1")
    assert again == submitted[0]
    rows = ledger.connection.execute(
        "select a.lane, y.lane from switchyard.action a join switchyard.yard y using (action_uuid) order by action_uuid"
    ).fetchall()
    assert rows == [("acme", "acme"), ("17", "17"), ("given", "given"), (None, "")]


@pytest.mark.parametrize(
    "customer", ['{"a": 1}', "[1]", '""', f'"{"x" * 201}"'], ids=["object", "array", "empty", "long"]
)
def test_a_path_that_finds_no_lane_refuses_the_submission(ledger: Ledger, customer: str) -> None:
    announce(ledger.connection, lane_path="$.customer")
    with pytest.raises(psycopg.Error, match="lane"):
        ledger.submit("hook", parameters=f'{{"customer": {customer}}}')
    assert ledger.connection.execute("select count(*) from switchyard.action").fetchall() == [(0,)]


@pytest.mark.parametrize(
    "limits",
    [
        {"in_flight": 0}, {"lane_in_flight": -1}, {"rate": 0, "burst": 1}, {"rate": 1}, {"lane_running": 0},
        {"weights": {"A": -1}}, {"weights": {"A": 0}}, {"weights": {"A": "3"}}, {"weights": {"A": [3]}}, {"weights": [1]},
    ],
    ids=str,
)  # fmt: skip
def test_a_limit_or_weight_that_cannot_be_is_refused_and_changes_nothing(
    ledger: Ledger, workers: list[Worker], limits: dict[str, Any]
) -> None:
    announce(ledger.connection, lane_in_flight=1)
    with pytest.raises(psycopg.errors.CheckViolation):
        announce(ledger.connection, **limits)
    fill(ledger.connection, 2, "A")
    assert workers[0].claim() == ["A"]


def test_a_claim_that_cannot_have_its_turn_in_time_finds_nothing_and_keeps_its_session(
    ledger: Ledger, workers: list[Worker]
) -> None:
    worker, other, _ = workers
    announce(ledger.connection, lane_in_flight=2)
    fill(ledger.connection, 3, "A")
    assert worker.claim(1) == ["A"]
    worker.connection.execute("set lock_timeout = '20ms'")
    with other.connection.transaction():
        other.connection.execute("select pg_advisory_xact_lock(1937204083, hashtext('hook'))")
        assert worker.claim() == []
        assert worker.limited
    assert worker.claim() == ["A"]
    assert in_flight(ledger.connection) == {"A": 2}


BETWEEN = """create or replace function switchyard.try_lock_unless_held(p_uuid uuid, p_lock bigint, p_held uuid[]) returns boolean
  language plpgsql as $$ begin
    insert into switchyard.event (action_uuid, status, run, attempt, retry_seconds)
    select p_uuid, case y.priority when 1 then 'BACKOFF' else 'SUCCESSFUL' end::switchyard.status, 1, 1, 0
    from switchyard.yard y where y.action_uuid = p_uuid and y.priority < 3;
    return pg_try_advisory_lock(p_lock);
  end $$"""


@pytest.mark.breaks_ledger
def test_what_a_peer_did_between_the_look_and_the_lock_is_seen(ledger: Ledger, workers: list[Worker]) -> None:
    worker = workers[0]
    announce(ledger.connection)
    for priority in (1, 2, 3):
        fill(ledger.connection, 1, "A", priority=priority)
    [(retried,), (ended,), (left,)] = ledger.connection.execute(
        "select action_uuid from switchyard.yard order by priority"
    ).fetchall()
    ledger.connection.execute(BETWEEN)
    worker.claim()
    assert list(worker.held) == [left]
    [(locks,)] = worker.connection.execute(
        "select count(*) from pg_locks where locktype = 'advisory' and objsubid = 1 and pid = pg_backend_pid()"
    ).fetchall()
    assert locks == 1, "the others were given back"
    assert (ledger.state(retried), ledger.state(ended)) == (("BACKOFF", 1, 1), ("SUCCESSFUL", 1, 1))


def test_a_lane_that_was_empty_has_saved_no_turns(ledger: Ledger, workers: list[Worker]) -> None:
    worker = workers[0]
    announce(ledger.connection, lane_in_flight=1000)
    fill(ledger.connection, 1, "b")
    assert worker.claim(2) == ["b"]
    fill(ledger.connection, 300, "a")
    for _ in range(20):
        assert worker.claim(10) == ["a"] * 10
    fill(ledger.connection, 40, "b")
    lanes = [lane for _ in range(40) for lane in worker.claim(1)]
    assert 5 <= lanes.count("a") <= 35


def test_a_breaker_raises_no_limit_above_its_own(ledger: Ledger, workers: list[Worker]) -> None:
    announce(ledger.connection, lane_in_flight=4)
    fill(ledger.connection, 10, "a")
    assert workers[0].claim(1, slowed={}) == ["a"]
    factor = "select factor from switchyard.lane"
    for step, left in ((0.5, 0.5), (1.5, 0.75), (2.0, 1.0)):
        workers[0].claim(1, slowed={"a": step})
        assert ledger.connection.execute(factor).fetchall() == [(left,)]


def test_locked_rows_are_neither_waited_for_nor_lost(ledger: Ledger, workers: list[Worker]) -> None:
    """What came before the limits, and what falls due."""
    worker = workers[0]
    before = [ledger.submit("hook", lane="a") for _ in range(2)]
    announce(ledger.connection)
    worker.connection.execute("set lock_timeout = '5s'")
    hold = "select from switchyard.yard where action_uuid = %s for update"
    with ledger.database.connect(autocommit=False) as somebody:
        somebody.execute(hold, [before[0]])
        worker.claim(10)
        assert list(worker.held) == before[1:]
        somebody.rollback()
        due = [ledger.submit("hook", lane="a", start_after="2001-01-01") for _ in range(2)]
        somebody.execute(hold, [due[0]])
        worker.claim(10)
        assert set(worker.held) == {*before, due[1]}
        somebody.rollback()
        worker.claim(10)
    assert set(worker.held) == {*before, *due}


def test_what_falls_due_before_it_has_a_lane_is_claimed_at_once(
    ledger: Ledger, workers: list[Worker]
) -> None:
    stray = ledger.submit("hook", lane="a", start_after="2001-01-01")
    announce(ledger.connection)
    workers[0].claim(10)
    if not workers[0].held:
        assert workers[0].due_in is not None
        assert workers[0].due_in <= 0
        workers[0].claim(10)
    assert list(workers[0].held) == [stray]


@pytest.mark.parametrize(
    ("tokens", "before", "after", "left"),
    [
        (5, "-1 hour", "2 s", 2),  # the claims before a crash may be forgotten
        (5, "1 s", "3 s", 7),
        (5, "1 s", "1 hour", 10),
        (5, "3 s", "1 s", 5),  # the clock was set back
        (None, "1 s", "3 s", 10),
    ],
)
def test_the_tokens_of_a_bucket(
    ledger: Ledger, tokens: int | None, before: str, after: str, left: int
) -> None:
    refilled = "select switchyard.refilled(%s, t + %s::interval, t + %s::interval, 1, 10) from pg_postmaster_start_time() as t"
    assert ledger.connection.execute(refilled, [tokens, before, after]).fetchall() == [(left,)]


def test_paused_names_are_not_claimed(ledger: Ledger, workers: list[Worker]) -> None:
    announce(ledger.connection, lane_in_flight=1)
    fill(ledger.connection, 1, "A")
    ledger.connection.execute("select switchyard.pause('hook', 'ann', 'x')")
    assert workers[0].claim() == []
    ledger.connection.execute("select switchyard.resume('hook', 'ann', 'x')")
    assert workers[0].claim() == ["A"]


def test_a_conductor_that_does_not_know_the_limits_starts_nothing_beside_them(
    ledger: Ledger, workers: list[Worker]
) -> None:
    """In a rolling update some have the configuration before; strays belong to those that know the limits."""
    plain = ledger.connection
    stray, _ = ledger.submit("hook"), ledger.submit("hook", start_after="2020-01-01")
    announce(plain, in_flight=1)
    assert ledger.claim(5, "hook") == []
    named = plain.execute("select lock_id from switchyard.claim_one('hook', %s)", [stray]).fetchall()
    assert named == [(None,)]
    assert workers[0].claim() == [""]
    assert list(workers[0].held) == [stray]
    workers[0].finish()
    plain.execute("select switchyard.withdraw_flows('{}')")
    assert len(ledger.claim(5, "hook")) == 1
