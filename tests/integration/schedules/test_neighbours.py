"""Schedules that cannot fire now, or whose rows somebody holds: what that costs the others."""

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import LiteralString

import pytest

from conductor.maintenance.own_session import OwnSession
from conductor.maintenance.ticks import HELD, Ticks
from conductor.metrics import ConductorMetrics
from conductor.session.open import LOCK_TIMEOUT
from tests.integration.schedules.schedule import apply, row, ticks
from tests.parts.database import Database

BLOCKED = [f"a{number:02}" for number in range(12)]
PROMISED = 0.25  # for each lock that something waits for


class Passes:
    """One conductor's loop, and its clock."""

    def __init__(self, database: Database) -> None:
        self.now = 0.0
        self.shared = OwnSession(database.url)
        own = OwnSession(database.url, lock_timeout=LOCK_TIMEOUT, statement_timeout="2s")
        self.loop = Ticks(self.shared, own, ConductorMetrics().maintenance, lambda: self.now)

    async def one(self, later: float = 0.0) -> tuple[float, float]:
        """The pause that the loop asks for, and how long the pass took."""
        self.now += later
        began = time.monotonic()
        pause = await self.loop.run_once()
        assert pause is not None
        return pause, time.monotonic() - began


@pytest.fixture
async def passes(database: Database) -> AsyncIterator[Passes]:
    made = Passes(database)
    yield made
    await made.loop.close()
    await made.shared.close()


@contextmanager
def held(database: Database, table: LiteralString, names: LiteralString) -> Iterator[None]:
    """Somebody else's transaction has these rows."""
    with database.connect(autocommit=False) as other:
        other.execute(f"select from switchyard.{table} where {names} for update")
        yield


async def test_schedules_whose_rows_are_held_delay_no_other(database: Database, passes: Passes) -> None:
    for name in (*BLOCKED, "z"):
        apply(database, name)
    with held(database, "schedule", "name <> 'z'"):
        pause, taken = await passes.one()
        assert len(ticks(database, "z")) == 1
        assert taken < len(BLOCKED) * PROMISED, "there is not a wait for each"
        assert 0 < pause <= HELD
    await passes.one(later=HELD)
    assert {len(ticks(database, name)) for name in BLOCKED} == {1}


async def test_actions_that_are_to_be_replaced_and_are_held_delay_only_their_schedules(
    database: Database, passes: Passes
) -> None:
    for name in (*BLOCKED[:4], "z"):
        apply(database, name, overlap="replace")
    await passes.one()
    database.execute(
        "update switchyard.schedule set next_at = now() - interval '1 s', last_at = null, every = 1"
    )
    with held(
        database,
        "thread",
        "action_uuid in (select unnest(recent) from switchyard.schedule where name <> 'z')",
    ):
        _, taken = await passes.one(later=HELD)
        assert taken < 5 * 4 * PROMISED
        assert len(ticks(database, "z")) > 1
        assert [len(ticks(database, name)) for name in BLOCKED[:4]] == [1] * 4
    await passes.one(later=60.0)
    assert all(len(ticks(database, name)) > 1 for name in BLOCKED[:4])


async def test_a_schedule_that_cannot_fire_is_tried_less_and_less_often(
    database: Database, passes: Passes
) -> None:
    apply(database)
    database.execute("update switchyard.schedule set cron = 'whenever', every = null")
    pauses = [(await passes.one(later))[0] for later in (0.0, 0.6, 1.1, 2.1, 4.1, 8.1)]
    assert pauses == sorted(pauses)
    assert pauses[0] > 0.3
    database.execute("update switchyard.schedule set cron = null, every = 3600, revision = revision + 1")
    await passes.one()
    assert len(ticks(database)) == 1, "a definition that was changed is tried at once"


async def test_a_trigger_that_never_returns_delays_its_own_schedule_and_no_heartbeat(
    database: Database, passes: Passes
) -> None:
    database.execute(
        "create function slow() returns trigger language plpgsql as $$"
        " begin if new.action_name = 'slow' then perform pg_sleep(60); end if; return new; end $$"
    )
    database.execute(
        "create trigger slow before insert on switchyard.action for each row execute function slow()"
    )
    apply(database, "a", action_name="slow")
    apply(database, "z")
    # While a tick is being fired, the session of heartbeats is free.
    async with passes.loop._own.session(), passes.shared.session() as session:
        assert await session.rows("select 1") == [(1,)]
    await passes.one()
    assert [len(ticks(database, name)) for name in "az"] == [0, 1]
    _, taken = await passes.one()
    assert taken < 5.0, "it is set aside"


async def test_a_long_outage_is_one_entry(database: Database, passes: Passes) -> None:
    long_ago = datetime.now(UTC).replace(second=0, microsecond=0) - timedelta(days=30)
    apply(database, every=60, next_at=long_ago, catch_up="none")
    while row(database)["next_at"] < datetime.now(UTC):
        await passes.one()
    [(entries, missed)] = database.execute(
        "select count(*), sum((detail ->> 'missed')::bigint) from switchyard.journal where kind = 'missed_ticks'"
    )
    assert entries == 1
    assert missed == row(database)["missed"] >= 30 * 24 * 60 - 1


async def test_an_edited_entry_of_missed_ticks_stops_no_schedule(database: Database, passes: Passes) -> None:
    at = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(days=2)
    odd = ('"x"', "[]", "-1", "1e300", "null")
    details = [
        f'{{"missed": {missed}, "fired": {fired}}}'
        for value in odd
        for missed, fired in ((value, 1), (1, value))
    ]
    for detail in (*details, "{}"):
        database.execute(
            "insert into switchyard.journal (kind, subject, detail, needs_review)"
            " values ('missed_ticks', 's', %s::jsonb || jsonb_build_object('until', to_jsonb(%s::timestamptz)), true)",
            detail,
            at,
        )
    apply(database, next_at=at, catch_up="none")
    await passes.one()
    assert row(database)["next_at"] > datetime.now(UTC)
