"""Handlers that answer for a whole claim at once: one outcome for all, one for each, or an exception."""

from collections.abc import Callable, Sequence

import pytest

from switchyard.handlers import Batch, BatchHandler, Failed, HandedOver, Outcome, Retry, Success
from tests.integration.conductor.yard import Script, Yard, ended_once
from tests.waiting import eventually

pytestmark = pytest.mark.database

Answer = Callable[[Batch], Outcome | Sequence[Outcome]]
HOUR = {"base": "1h", "max": "1h"}


class Batches(Script):
    """Answers for many; nothing may be asked of it one by one."""

    def __init__(self, answer: Answer) -> None:
        super().__init__()
        self._answer = answer
        self.sizes: list[int] = []

    def dispatch_all(self, batch: Batch, /) -> Outcome | Sequence[Outcome]:
        self.sizes.append(len(batch))
        return self._answer(batch)


async def test_one_outcome_for_each_goes_to_its_own_action(yard: Yard) -> None:
    uuids = yard.submit(9)
    kinds: list[Outcome] = [Success(), Failed("no"), HandedOver()]
    handler = Batches(lambda batch: [kinds[uuids.index(uuid) % 3] for uuid in batch.uuids])
    assert isinstance(handler, BatchHandler)
    await yard.drain(yard.served(handler))
    assert (handler.sizes, handler.seen.total()) == ([9], 0)
    wanted = ("SUCCESSFUL", "FAILED", "QUEUED")
    assert [yard.events(uuid) for uuid in uuids] == [[(wanted[n % 3], 1, False)] for n in range(9)]


async def test_a_retry_for_all_counts_each_ones_attempts(yard: Yard) -> None:
    uuids = yard.submit(3)
    await yard.drain(yard.served(Batches(lambda _: Retry("not yet")), retry={"attempts": 2, **HOUR}))
    assert yard.statuses() == {"BACKOFF": 3}
    yard.database.execute("update switchyard.yard set due = now()")
    await yard.drain(yard.served(Batches(lambda _: Retry("not yet")), retry={"attempts": 2, **HOUR}))
    ends = [("BACKOFF", 1, False), ("RETRIES_EXHAUSTED", 2, False)]
    assert [yard.events(uuid) for uuid in uuids] == [ends] * 3


async def test_a_batch_that_raises_is_retried(yard: Yard) -> None:
    yard.submit(4)

    def broken(_: Batch) -> Outcome:
        raise RuntimeError("a bug")

    await yard.drain(yard.served(Batches(broken), retry=HOUR))
    assert yard.statuses() == {"BACKOFF": 4}
    assert yard.database.execute("select distinct error from switchyard.thread") == [("RuntimeError: a bug",)]


async def test_one_under_somebodys_transaction_does_not_hold_up_its_batch(yard: Yard) -> None:
    [stuck, *others] = yard.submit(8)
    handler = Batches(lambda _: Success())
    with yard.database.connect(autocommit=False) as blocker:
        blocker.execute("select 1 from switchyard.thread where action_uuid = %s for update", (stuck,))
        yard.start(yard.served(handler))
        await eventually(lambda: ended_once(yard, others))
        assert yard.events(stuck) == []
    await eventually(lambda: ended_once(yard, [stuck]))
    assert handler.sizes == [8]
