"""Lanes against their model: never above a limit, no slot idle that any lane may use, nothing lost.

The model knows what is open, who holds what, and the limits. After every claim it compares: what was granted,
and what could have been. `verify` must find nothing at any time.
"""

from collections import Counter
from contextlib import ExitStack
from uuid import UUID

from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from tests.integration.ledger.flows import Worker, announce
from tests.model.behaving import LedgerMachine, behaves
from tests.parts.database import Template

LANES = ["A", "B", "C", ""]
SESSIONS = 3
NAME_LIMIT, LANE_LIMIT = 6, 3

lanes = st.sampled_from(LANES)
sessions = st.integers(0, SESSIONS - 1)


class LaneMachine(LedgerMachine):
    """Drives a fresh ledger with one flow, three sessions and an administrator."""

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        database = self.stack.enter_context(self.template.clone())
        self.connection = self.stack.enter_context(database.connect())
        self.late = self.stack.enter_context(database.connect(autocommit=False))
        self.workers = [Worker(self.stack.enter_context(database.connect())) for _ in range(SESSIONS)]
        self.ready: dict[UUID, str] = {}
        self.uncommitted: dict[UUID, str] = {}
        self.failed: dict[UUID, str] = {}
        announce(self.connection, in_flight=NAME_LIMIT, lane_in_flight=LANE_LIMIT, weights={"B": 3})

    def teardown(self) -> None:
        with self.stack:
            self.commit_late()
            for _ in range(100):
                for number in range(SESSIONS):
                    self.finish(number, 99)
                    self.claim(number, 10)
                if not self.ready and not any(worker.held for worker in self.workers):
                    break
            assert self.ready == {}, "lost"

    def _submit(self, lane: str, priority: int, connection: object) -> UUID:
        [(uuid,)] = connection.execute(  # type: ignore[attr-defined]
            "select switchyard.submit('hook', lane => %s, priority => %s)", [lane or None, priority]
        ).fetchall()
        found: UUID = uuid
        return found

    @rule(lane=lanes, priority=st.integers(1, 3), count=st.integers(1, 5))
    def submit(self, lane: str, priority: int, count: int) -> None:
        for _ in range(count):
            self.ready[self._submit(lane, priority, self.connection)] = lane

    @rule(lane=lanes)
    def submit_and_commit_later(self, lane: str) -> None:
        self.uncommitted[self._submit(lane, 2, self.late)] = lane

    @rule()
    def commit_late(self) -> None:
        self.late.commit()
        self.ready |= self.uncommitted
        self.uncommitted = {}

    @rule(number=sessions, wanted=st.integers(0, 8))
    def claim(self, number: int, wanted: int) -> None:
        worker, before = self.workers[number], set(self.workers[number].held)
        reported = [other for other in self.workers if other is not worker and other.unreported]
        worker.claim(wanted)
        new = set(worker.held) - before
        for uuid in new:
            assert self.ready.pop(uuid) == worker.held[uuid]
        if not reported:
            self._no_slot_is_idle(len(new), wanted)

    def _no_slot_is_idle(self, got: int, wanted: int) -> None:
        in_flight = self._in_flight()
        if got == wanted or in_flight.total() >= NAME_LIMIT:
            return
        open_lanes = Counter(self.ready.values())
        idle = {lane for lane in open_lanes if in_flight[lane] < LANE_LIMIT}
        assert idle == set(), f"{idle} could have been claimed: {in_flight} in flight"

    @rule(number=sessions, count=st.integers(1, 3))
    def finish(self, number: int, count: int) -> None:
        self.workers[number].finish(count)

    @rule(number=sessions, count=st.integers(1, 3))
    def fail(self, number: int, count: int) -> None:
        worker = self.workers[number]
        self.failed |= dict(list(worker.held.items())[:count])
        worker.finish(count, "FAILED")

    @rule(number=sessions)
    def give_back(self, number: int) -> None:
        worker = self.workers[number]
        given = dict(list(worker.held.items())[:1])
        worker.unlock(list(given))
        self.ready |= given

    @rule()
    def retrigger(self) -> None:
        for uuid, lane in self.failed.items():
            self.connection.execute("select switchyard.retrigger(%s, 'ann', 'again')", [uuid])
            self.ready[uuid] = lane
        self.failed = {}

    def _in_flight(self) -> Counter[str]:
        return Counter(lane for worker in self.workers for lane in worker.held.values())

    @invariant()
    def within_the_limits(self) -> None:
        in_flight = self._in_flight()
        assert in_flight.total() <= NAME_LIMIT
        assert max(in_flight.values(), default=0) <= LANE_LIMIT

    @invariant()
    def consistent(self) -> None:
        assert self.connection.execute("select * from switchyard.verify_flows()").fetchall() == []


def test_lanes_behave_as_their_model(template: Template) -> None:
    behaves(LaneMachine, template)
