"""A bell that names its action: answered at once, never believed, and never a way to claim twice."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from uuid import UUID, uuid4

import pytest

from conductor.dispatch import pipeline
from conductor.session import open as opening
from tests.integration.conductor.yard import NAME, Script, Yard, ended_once
from tests.waiting import eventually

pytestmark = pytest.mark.database

IDLE = {"poll": "1h"}
WAITING = (
    "select 1 from pg_stat_activity where query like '%%claim_one%%' and wait_event_type = 'Lock'"
    " and datname = current_database()"
)


@pytest.fixture
async def handler(yard: Yard) -> AsyncIterator[Script]:
    """Of a worker that sleeps on its bell."""
    script = Script()
    yard.start(yard.served(script), **IDLE)
    await eventually(lambda: yard.armed() == 1)
    yield script
    script.gate.set()


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A claim may wait for as long as the test has it wait."""
    monkeypatch.setattr(opening, "LOCK_TIMEOUT", "10s")
    monkeypatch.setattr(opening, "STATEMENT_TIMEOUT", "10s")


def ring(yard: Yard, said: object) -> None:
    yard.database.execute("select pg_notify(switchyard.bell_channel(%s), %s)", NAME, str(said))


@contextmanager
def held_up(yard: Yard) -> Iterator[None]:
    """No claim is answered inside."""
    with yard.database.connect(autocommit=False) as other:
        other.execute("lock table switchyard.paused in access exclusive mode")
        yield


async def test_what_it_names_is_started_without_a_search(
    yard: Yard, handler: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(pipeline, "claim_described")  # a search would end the loop
    [[uuid]] = yard.database.execute(
        "insert into switchyard.action (action_name, parameters, correlation_id)"
        " values ('drill', '{\"a\": [1]}', 'c-1') returning action_uuid"
    )
    await eventually(lambda: ended_once(yard, [uuid]))
    [work] = handler.works
    assert (work.uuid, work.run, work.attempt) == (uuid, 1, 1)
    assert (work.parameters, work.correlation_id, work.parent_uuid) == ({"a": [1]}, "c-1", None)


async def test_many_at_once_are_found_by_a_search(yard: Yard, handler: Script) -> None:
    uuids = yard.submit(20)
    await eventually(lambda: ended_once(yard, uuids))
    assert handler.seen.total() == 20


async def test_what_flies_already_is_not_started_again(yard: Yard, handler: Script) -> None:
    """Session locks are re-entrant: asked for again, the lock of what is in flight would be granted."""
    handler.gate.clear()
    [uuid] = yard.submit(1)
    await eventually(lambda: handler.flying == 1)
    for _ in range(3):
        ring(yard, uuid)
    [last] = yard.submit(1)
    await eventually(lambda: handler.flying == 2)
    assert handler.seen == {uuid: 1, last: 1}
    assert yard.ledger.locks() == 2
    handler.gate.set()
    await eventually(lambda: ended_once(yard, [uuid, last]))
    await eventually(lambda: yard.ledger.locks() == 0)


async def test_its_content_is_not_trusted(yard: Yard, handler: Script) -> None:
    [other] = yard.submit(1, name="other")
    [done] = yard.submit(1)
    await eventually(lambda: ended_once(yard, [done]))
    sessions = yard.backends()
    for said in (other, done, uuid4(), UUID(int=0), "", "rubbish", "ä" * 40):
        ring(yard, said)
    [last] = yard.submit(1)
    await eventually(lambda: ended_once(yard, [last]))
    assert handler.seen == {done: 1, last: 1}
    assert yard.backends() == sessions, "what cannot be claimed costs no session"
    await eventually(lambda: yard.ledger.locks() == 0)


async def test_a_stop_in_the_same_moment_waits_for_its_claim(yard: Yard) -> None:
    yard.database.execute("select switchyard.pause('drill', 'test', 'because')")
    worker = yard.start(yard.served(Script()), **IDLE)
    await eventually(lambda: yard.armed() == 1)
    [uuid] = yard.submit(1)
    yard.database.execute("delete from switchyard.paused")  # a resume would ring
    await eventually(lambda: worker._loop and worker._loop.wakeup.idle)
    assert worker._loop is not None
    worker._loop.wakeup.heard(str(uuid).encode())
    await yard.stop()
    assert yard.events(uuid) == [("SUCCESSFUL", 1, False)]
    assert yard.ledger.locks() == 0


@pytest.mark.usefixtures("patient")
async def test_a_session_lost_while_its_claim_is_under_way_takes_the_claim_along(
    yard: Yard, caplog: pytest.LogCaptureFixture
) -> None:
    handler = Script()
    yard.start(yard.served(handler), **IDLE)
    await eventually(lambda: yard.armed() == 1)
    with held_up(yard):
        [uuid] = yard.submit(1)
        await eventually(lambda: yard.database.execute(WAITING))
        yard.end_backends()
    await eventually(lambda: ended_once(yard, [uuid]))
    assert handler.seen == {uuid: 1}
    assert "never retrieved" not in caplog.text


async def test_a_blocked_rehearsal_costs_nothing_in_flight(yard: Yard, handler: Script) -> None:
    handler.gate.clear()
    [uuid] = yard.submit(1)
    await eventually(lambda: handler.flying == 1)
    with held_up(yard):
        await eventually(lambda: yard.database.execute(WAITING))
        await eventually(lambda: not yard.database.execute(WAITING))  # the server gave up on it
        handler.gate.set()
        await eventually(lambda: ended_once(yard, [uuid]))
    assert (handler.seen, handler.cancelled) == ({uuid: 1}, 0)
