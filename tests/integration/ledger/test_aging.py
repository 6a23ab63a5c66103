"""Priorities that age: who waits long enough goes before who came later with a smaller one."""

import random
from collections.abc import Iterator
from uuid import UUID

import psycopg
import pytest

from tests.integration.ledger.flows import Worker, announce, fill
from tests.integration.ledger.ledger import Connection, Ledger

pytestmark = pytest.mark.database

INSERT = """insert into switchyard.action (action_uuid, action_name, lane, priority)
  values (switchyard.uuid7(%s::timestamptz - make_interval(secs => %s)), 'hook', %s, %s) returning action_uuid"""
STEP = 10  # seconds
Rank = tuple[int, UUID]


@pytest.fixture
def worker(ledger: Ledger) -> Iterator[Worker]:
    with ledger.database.connect() as session:
        yield Worker(session)


class Queue:
    """What is open, and in which order each lane has to be claimed."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        [(self._now,)] = connection.execute("select now()").fetchall()
        self.open: dict[str, list[Rank]] = {}

    def add(self, age: float, priority: int, lane: str = "") -> UUID:
        [(uuid,)] = self._connection.execute(INSERT, [self._now, age, lane or None, priority]).fetchall()
        made: UUID = uuid
        rank = priority * STEP * 1000 + (made.int >> 80)
        self.open.setdefault(lane, []).append((rank, made))
        return made

    def claimed(self, worker: Worker) -> None:
        """One more, which has to be the first of its lane."""
        [lane] = worker.claim(1)
        first = min(self.open[lane])
        assert [*worker.held] == [first[1]]
        self.open[lane].remove(first)


@pytest.mark.parametrize("lanes", [[""], ["A", "B", "C"]])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_claims_follow_priority_times_step_plus_time(
    ledger: Ledger, worker: Worker, lanes: list[str], seed: int
) -> None:
    chance = random.Random(seed)
    announce(ledger.connection, priority_aging=STEP)
    queue = Queue(ledger.connection)
    for _ in range(40):
        for _ in range(chance.randint(0, 4)):
            queue.add(chance.uniform(0, 60), chance.randint(-3, 3), chance.choice(lanes))
        if any(queue.open.values()):
            queue.claimed(worker)
            worker.finish()
    while any(queue.open.values()):
        queue.claimed(worker)
        worker.finish()
    assert ledger.connection.execute("select * from switchyard.verify_flows()").fetchall() == []


@pytest.mark.parametrize(("aging", "goes_after"), [(STEP, 20), (None, None)])
def test_a_steady_stream_of_urgent_actions_holds_nothing_back_for_ever(
    ledger: Ledger, worker: Worker, aging: int | None, goes_after: int | None
) -> None:
    """Two urgent ones come each second and one is claimed: those 20 that come within the step go before it."""
    announce(ledger.connection, priority_aging=aging)
    queue = Queue(ledger.connection)
    patient = queue.add(100, 2)
    order: list[UUID] = []
    for second in range(60):
        queue.add(99.9 - second, 1)
        queue.add(99.8 - second, 1)
        worker.claim(1)
        order += worker.held
        worker.finish()
    assert (order.index(patient) if patient in order else None) == goes_after


def test_why_counts_those_that_go_before_it(ledger: Ledger, worker: Worker) -> None:
    announce(ledger.connection, priority_aging=STEP)
    ledger.connection.execute(
        "insert into switchyard.worker (kind, host, action_name, slots) values ('conductor', 'h1', 'hook', 4)"
    )
    queue = Queue(ledger.connection)
    chance = random.Random(7)
    for _ in range(30):
        queue.add(chance.uniform(0, 60), chance.randint(-3, 3))
    for place, (_, uuid) in enumerate(sorted(queue.open[""]), 1):
        [(why,)] = ledger.connection.execute("select switchyard.why_detail(%s)", [uuid]).fetchall()
        assert why["place"] == place
    queue.claimed(worker)


def test_a_backoff_and_a_retrigger_keep_the_age(ledger: Ledger, worker: Worker) -> None:
    announce(ledger.connection, priority_aging=STEP)
    queue = Queue(ledger.connection)
    failed, delayed = queue.add(60, 3), queue.add(55, 3)
    worker.claim(1)
    worker.finish(1, "FAILED")
    worker.claim(1)
    worker.finish(1, "BACKOFF", retry=0)
    young = queue.add(0, 1)
    ledger.connection.execute("select switchyard.retrigger(%s, 'ann', 'again')", [failed])
    for expected in (failed, delayed, young):
        worker.claim(1)
        assert [*worker.held] == [expected]
        worker.finish()


def test_a_change_of_the_setting_applies_to_what_waits(ledger: Ledger, worker: Worker) -> None:
    before = Queue(ledger.connection)
    old = [before.add(60, 3), before.add(50, 2), before.add(0, 1)]
    announce(ledger.connection, priority_aging=STEP)  # the name had no flow
    for announced, expected in ((STEP, old[0]), (None, old[2]), (STEP, old[0])):
        announce(ledger.connection, priority_aging=announced)
        worker.claim(1)
        assert [*worker.held] == [expected]
        worker.unlock([expected])
        worker.claim(0)
        assert ledger.connection.execute("select * from switchyard.verify_flows()").fetchall() == []
    ledger.connection.execute("select switchyard.withdraw_flows('{}')")
    assert ledger.claim(3, "hook") == old[::-1]


def test_a_change_of_the_setting_reaches_many_open_actions_in_groups(ledger: Ledger, worker: Worker) -> None:
    announce(ledger.connection)
    for priority in (3, 1):
        fill(ledger.connection, 2500, "A", priority=priority)
    last = ledger.submit("hook", priority=0, lane="A")
    rows = "select count(*) from switchyard.yard where rank > 1000"
    announce(ledger.connection, priority_aging=STEP)
    assert ledger.connection.execute(rows).fetchall() == [(0,)], "no claim waits for all of them"
    for expected in (2000, 4000, 5001):
        worker.claim(0)
        # Another conductor starts meanwhile: what was done is not done again.
        announce(ledger.connection, priority_aging=STEP)
        assert ledger.connection.execute(rows).fetchall() == [(expected,)]
        assert ledger.connection.execute("select * from switchyard.verify_flows()").fetchall() == []
    announce(ledger.connection, in_flight=3, priority_aging=None)
    worker.claim(0)
    announce(ledger.connection, in_flight=4, priority_aging=None)  # another change does not end it
    worker.claim(0)
    worker.claim(3)
    assert ledger.connection.execute(rows).fetchall() == [(0,)]
    assert last in worker.held, "all have their places"
    assert ledger.connection.execute("select * from switchyard.verify_flows()").fetchall() == []


def test_without_the_setting_the_rank_is_the_priority(ledger: Ledger) -> None:
    rank = "select flow, rank from switchyard.yard where action_uuid = %s"
    plain = ledger.submit("hook", priority=7)
    assert ledger.connection.execute(rank, [plain]).fetchall() == [(None, None)]
    announce(ledger.connection, in_flight=1)
    limited = ledger.submit("hook", priority=7)
    assert ledger.connection.execute(rank, [limited]).fetchall() == [("hook", 7)]


@pytest.mark.parametrize("priority", [-32768, 32767])
def test_the_longest_step_and_the_outermost_priorities_have_a_rank(ledger: Ledger, priority: int) -> None:
    announce(ledger.connection, priority_aging=365 * 86400)
    assert ledger.submit("hook", priority=priority)


@pytest.mark.parametrize("aging", [0, -1, 0.5, 366 * 86400])
def test_a_step_that_is_none_is_refused(ledger: Ledger, aging: float) -> None:
    with pytest.raises(psycopg.errors.CheckViolation, match="flow_priority_aging"):
        announce(ledger.connection, priority_aging=aging)
