"""The fence: a lost session takes its claims with it, and nothing of it is ever written."""

import asyncio
import os
import time
from contextlib import suppress

import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from conductor.session.open import open_session, refuse_pooling
from conductor.session.session import ANSWER_WITHIN, SessionLost
from switchyard.backoff import Backoff
from switchyard.config.daemons import Workers
from switchyard.errors import DatabaseUnavailable, NotDirect
from switchyard.handlers import Success
from switchyard.ledger.pooling import reached
from tests.integration.conductor.yard import NAME, Script, Yard, ended_once
from tests.parts.database import Database
from tests.parts.pgbouncer import PgBouncer
from tests.parts.proxy import Proxy
from tests.waiting import eventually

pytestmark = pytest.mark.database


def through(proxy: Proxy, url: str) -> str:
    """The same database by way of the proxy."""
    return make_conninfo(url, host="127.0.0.1", port=str(proxy.port))


def port_of(url: str) -> int:
    return int(conninfo_to_dict(url).get("port") or os.environ.get("PGPORT", "5432"))


async def test_a_terminated_backend_stops_its_dispatches_and_the_action_is_claimed_again(yard: Yard) -> None:
    uuids = yard.submit(5)
    handler = Script()
    handler.gate.clear()
    yard.start(yard.served(handler))
    await eventually(lambda: handler.flying == 5)
    yard.end_backends()
    await eventually(lambda: handler.cancelled == 5)
    await eventually(lambda: handler.flying == 5)  # claimed again, on a new session
    assert all(yard.events(uuid) == [] for uuid in uuids)
    handler.gate.set()
    await eventually(lambda: ended_once(yard, uuids))
    assert yard.events(uuids[0]) == [("SUCCESSFUL", 1, False)]


async def test_an_outcome_that_lands_after_the_loss_is_not_written(yard: Yard) -> None:
    [uuid] = yard.submit(1)

    class Deaf(Script):
        """Ends in success once it is told to stop; claimed again, at once."""

        async def dispatch(self, work: object, /) -> Success:
            self.works.append(work)  # type: ignore[arg-type]  # only counted
            if len(self.works) == 1:
                with suppress(asyncio.CancelledError):
                    await asyncio.Event().wait()
            return Success({"by": "the dead"})

    deaf = Deaf()
    yard.start(yard.served(deaf))
    await eventually(lambda: len(deaf.works) == 1)
    live = Script(lambda _: Success({"by": "the living"}))
    yard.end_backends()
    yard.start(yard.served(live))
    await eventually(lambda: ended_once(yard, [uuid]))
    await yard.stop()  # in order: whatever is still to be written has been
    assert len(yard.events(uuid)) == 1


MARK_SILENT = """select lost.* from (
    select array_agg(worker_id) as workers, array_agg(beat_at) as beats
    from switchyard.worker where beat_at < now() - interval '2 seconds'
  ) as silent, switchyard.mark_lost(silent.workers, silent.beats) as lost"""


async def test_a_silent_network_is_a_lost_connection_within_seconds(yard: Yard) -> None:
    uuids = yard.submit(3)
    behind, direct = Script(), Script()
    behind.gate.clear()
    limits = Workers.model_validate({"beat": "500ms", "lost_after": "2s"})
    with Proxy(port_of(yard.database.url)) as proxy:
        yard.start(yard.served(behind), url=through(proxy, yard.database.url), workers=limits)
        await eventually(lambda: behind.flying == 3)
        proxy.silence()
        began = time.monotonic()
        await eventually(lambda: behind.cancelled == 3, 5 * ANSWER_WITHIN)
        assert time.monotonic() - began >= 1.0
        # The server may not have noticed: whoever marks the worker lost ends its backend.
        yard.start(yard.served(direct))
        await eventually(lambda: len(yard.database.execute(MARK_SILENT)) == 1)
        await eventually(lambda: ended_once(yard, uuids))
        behind.gate.set()
        proxy.resume()
        await eventually(lambda: len(yard.backends()) == 2)
    assert all(len(yard.events(uuid)) == 1 for uuid in uuids)
    assert set(direct.seen.values()) == {1}


async def test_a_worker_marked_lost_gives_up_at_its_next_beat(yard: Yard) -> None:
    handler = Script()
    limits = Workers.model_validate({"beat": "200ms", "lost_after": "1s"})
    yard.start(yard.served(handler), workers=limits)
    states = "select ended_at is null and lost_at is null from switchyard.worker order by started_at"
    await eventually(lambda: yard.database.execute(states) == [(True,)])
    yard.database.execute("update switchyard.worker set lost_at = now()")
    await eventually(lambda: yard.database.execute(states) == [(False,), (True,)])


async def test_a_reconnected_worker_closes_the_row_it_had(yard: Yard) -> None:
    yard.start(yard.served())
    states = "select ended_at is not null from switchyard.worker order by started_at"
    await eventually(lambda: yard.database.execute(states) == [(False,)])
    yard.end_backends()
    await eventually(lambda: yard.database.execute(states) == [(True,), (False,)])


async def test_a_worker_stopped_without_a_session_closes_its_row_where_it_can(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conductor.worker.worker.PAUSES", Backoff(base=60.0, longest=60.0))
    states = "select ended_at is not null, lost_at is null from switchyard.worker"
    with Proxy(port_of(yard.database.url)) as proxy:
        worker = yard.worker(yard.served(), url=through(proxy, yard.database.url))
        running = asyncio.create_task(worker.run())
        await eventually(lambda: worker.serving)
        proxy.refuse()
        await eventually(lambda: not worker.serving)
        assert yard.database.execute(states) == [(False, True)]
        proxy.resume()
        worker.stop()
        await asyncio.wait_for(running, 60)
    assert yard.database.execute(states) == [(True, True)]


async def test_a_worker_stopped_with_no_database_ends_all_the_same(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conductor.worker.worker.CLOSE_WITHIN", 0.5)
    with Proxy(port_of(yard.database.url)) as proxy:
        worker = yard.worker(yard.served(), url=through(proxy, yard.database.url))
        running = asyncio.create_task(worker.run())
        await eventually(lambda: worker.serving)
        proxy.silence()
        await eventually(lambda: not worker.serving)
        worker.stop()
        await asyncio.wait_for(running, 60)
    assert yard.database.execute("select ended_at from switchyard.worker") == [(None,)]


async def test_a_session_that_gets_no_answer_is_severed(yard: Yard) -> None:
    session = await open_session(yard.database.url, NAME)
    session.sever("the test says so")
    with pytest.raises(SessionLost, match="the test says so"):
        await session.rows("select 1")
    await session.close()


async def test_a_transaction_pooling_proxy_is_refused_with_the_reason(pgbouncer: PgBouncer) -> None:
    with pytest.raises(NotDirect, match="transaction-pooling proxy"):
        await refuse_pooling(pgbouncer.url())


async def test_a_direct_connection_is_not_refused(yard: Yard) -> None:
    await refuse_pooling(yard.database.url)


def test_a_server_that_ends_during_the_look_for_a_proxy_is_away(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that starts meanwhile exits with 75 and is started again; it had a traceback and exited with 1."""
    monkeypatch.setattr("switchyard.ledger.pooling._BACKEND", "select pg_terminate_backend(pg_backend_pid())")
    with pytest.raises(DatabaseUnavailable):
        reached(database.url)
