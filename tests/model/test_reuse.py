"""Reuse against its model: of each key one computes or has a result, and whoever waits is given it or computes next."""

from collections.abc import Iterator
from contextlib import ExitStack
from uuid import UUID

from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from tests.integration.reuse.rules import announce, ask, settle
from tests.integration.waiting.joins import end
from tests.model.behaving import LedgerMachine, behaves
from tests.parts.database import Template

FAILURES = ["FAILED", "CANCELED", "TIMED_OUT"]
keys = st.integers(1, 3)
choices = st.integers(0, 100)


class ReuseMachine(LedgerMachine):
    """Drives a fresh ledger: callers, one that ends what computes, an administrator. It settles after every step, or not."""

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.database = self.stack.enter_context(self.template.clone())
        self.connection = self.stack.enter_context(self.database.connect())
        self.key: dict[UUID, int] = {}
        self.open: set[UUID] = set()
        self.computing: dict[int, UUID] = {}  # by key
        self.result: dict[int, UUID] = {}
        self.failed: list[UUID] = []
        announce(self.connection)

    def teardown(self) -> None:
        with self.stack:
            self.settle()
            while self.computing:
                self.succeed(0)
                self.settle()
            assert self.open == set(), "waits for ever"

    def _chosen(self, number: int, among: list[UUID]) -> Iterator[UUID]:
        yield from among[number % len(among) :][:1] if among else ()

    @rule(key=keys)
    def ask(self, key: int) -> None:
        uuid = ask(self.connection, key)
        self.key[uuid] = key
        self.open.add(uuid)

    @rule(number=choices)
    def succeed(self, number: int) -> None:
        for uuid in self._chosen(number, sorted(self.computing.values())):
            end(self.connection, uuid)
            self._gone(uuid)
            self.result[self.key[uuid]] = uuid

    @rule(number=choices, how=st.sampled_from(FAILURES))
    def fail(self, number: int, how: str) -> None:
        for uuid in self._chosen(number, sorted(self.computing.values())):
            end(self.connection, uuid, status=how)
            self._gone(uuid)
            self.failed.append(uuid)

    @rule(number=choices)
    def cancel(self, number: int) -> None:
        for uuid in self._chosen(number, sorted(self.open)):
            self.connection.execute("select switchyard.cancel(%s, 'ann', 'enough')", [uuid])
            self._gone(uuid)
            self.failed.append(uuid)

    def _gone(self, uuid: UUID) -> None:
        self.open.remove(uuid)
        if self.computing.get(self.key[uuid]) == uuid:
            del self.computing[self.key[uuid]]

    @rule(number=choices)
    def retrigger(self, number: int) -> None:
        for uuid in self._chosen(number, sorted(self.failed)):
            self.connection.execute(
                "update switchyard.thread set callbacks_due = false where action_uuid = %s", [uuid]
            )
            self.connection.execute("select switchyard.retrigger(%s, 'ann', 'again')", [uuid])
            self.failed.remove(uuid)
            self.open.add(uuid)

    @rule(key=keys)
    def forget_a_result(self, key: int) -> None:
        self.settle()
        if key in self.result:
            self.connection.execute(
                "select switchyard.forget_results('ann', 'wrong', action_uuid => %s)", [self.result.pop(key)]
            )

    @rule()
    def settle(self) -> None:
        assert settle(self.connection) == 0
        held = self._held()
        for key in {self.key[uuid] for uuid in self.open}:
            asked = sorted(uuid for uuid in self.open if self.key[uuid] == key)
            if key in self.result:
                assert not held & set(asked), "a result was not given"
                self.open -= set(asked) - {self.computing.get(key)}
            else:
                [computing] = set(asked) - held
                assert self.computing.setdefault(key, computing) == computing

    def _held(self) -> set[UUID]:
        rows = self.connection.execute("select action_uuid from switchyard.yard where due = 'infinity'")
        return {uuid for (uuid,) in rows.fetchall()}

    @invariant()
    def nothing_is_computed_twice(self) -> None:
        rows = self.connection.execute(
            "select action_uuid from switchyard.yard where due is distinct from 'infinity'"
        )
        computing = [self.key[uuid] for (uuid,) in rows.fetchall()]
        assert len(computing) == len(set(computing))
        assert self.connection.execute("select * from switchyard.verify()").fetchall() == []


def test_reuse_behaves_as_its_model(template: Template) -> None:
    behaves(ReuseMachine, template)
