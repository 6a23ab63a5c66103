"""Rates, breakers and lost workers, as several instances see them."""

import itertools
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from conductor.maintenance.clock import ClockCare
from conductor.maintenance.gauges import queue_depth
from conductor.maintenance.lost_workers import LostWorkers
from conductor.maintenance.own_session import OwnSession
from conductor.maintenance.partitions import PartitionCare
from conductor.maintenance.pauses import Pauses
from conductor.maintenance.unserved_names import UnknownNames
from switchyard.config.config import Config
from switchyard.config.daemons import Partitions, Workers
from switchyard.handlers import Outcome, Retry, Success
from switchyard.ledger.queries import query
from switchyard.process import tracing
from tests.integration.conductor.yard import NAME, Script, Yard
from tests.integration.ledger.ledger import Ledger
from tests.waiting import eventually

pytestmark = pytest.mark.database


class Timed(Script):
    """Notes when each dispatch was entered."""

    def __init__(self, times: list[float]) -> None:
        super().__init__(self._noted)
        self._times = times

    def _noted(self, _: object) -> Outcome:
        self._times.append(time.monotonic())
        return Success()


async def test_a_fleet_limit_holds_over_instances_in_every_window(yard: Yard) -> None:
    rate, burst = 100, 10
    yard.submit(150)
    times: list[float] = []
    limit = {"limit": f"{rate}/s", "burst": burst, "scope": "fleet"}
    for _ in range(3):  # each with a line of its own, as in a process of its own
        yard.start(yard.served(Timed(times), rate=limit))
    await eventually(lambda: len(times) == 150, 30)
    times.sort()
    late = 0.1  # from the token, in the database, to the dispatch, here
    for first, start in enumerate(times):
        for count, end in enumerate(times[first:], 1):
            assert count <= rate * (end - start + late) + burst
    assert times[-1] - times[0] >= (150 - burst) / rate - late


async def test_an_instance_limit_is_each_instances_own(yard: Yard) -> None:
    yard.submit(60)
    times = [time.monotonic()]  # the first entry may come late
    yard.start(yard.served(Timed(times), rate={"limit": "50/s", "burst": 10}))
    await eventually(lambda: len(times) == 61, 60)
    assert times[-1] - times[0] >= 50 / 50 - 0.1


async def test_a_breaker_slows_and_recovers_and_shows_it(yard: Yard) -> None:
    yard.submit(12)
    answers = [Retry("busy", detail={"status": 503})] * 3 + [Success()] * 100
    handler = Script(lambda _: answers.pop(0))
    served = yard.served(
        handler,
        concurrency=1,
        rate={"limit": "200/s", "burst": 1},
        breaker={"patterns": [{"status": 503}], "slow_by": 0.5, "floor": 0.1, "recover_by": 2},
        retry={"base": "1ms", "max": "1ms"},
    )
    seen: list[float] = []
    observe = served.observe

    def watched(outcome: Outcome, lane: str | None = None) -> None:
        observe(outcome, lane)
        seen.append(served.metrics.breaker._value.get())

    served.observe = watched  # type: ignore[method-assign]  # the metric after each outcome
    yard.start(served)
    await eventually(lambda: yard.statuses() == {"SUCCESSFUL": 12})
    assert seen[:6] == [0.5, 0.25, 0.125, 0.25, 0.5, 1.0]
    assert served.state()["breaker_factor"] == 1.0


async def test_a_name_that_loses_too_many_workers_is_paused_until_resumed(yard: Yard) -> None:
    limits = Workers.model_validate({"beat": "100ms", "lost_after": "1s", "min_lost": 3})
    yard.database.execute(
        "insert into switchyard.worker (kind, action_name, host, beat_at)"
        " select 'conductor', 'drill', 'gone', now() - interval '1 minute' from generate_series(1, 3)"
    )
    own = OwnSession(yard.database.url)
    try:
        ticks = itertools.count()
        marker = LostWorkers(own, limits, yard.metrics.maintenance, clock=lambda: next(ticks) / 5)
        for _ in range(5):
            await marker.run_once()
        assert yard.metrics.maintenance.lost.labels("conductor")._value.get() == 0
        for _ in range(2):
            await marker.run_once()
        paused = "select action_name, reason from switchyard.paused"
        assert yard.database.execute(paused) == [("drill", "3 of 3 workers were lost")]
        assert yard.metrics.maintenance.lost.labels("conductor")._value.get() == 3
        yard.database.execute("select switchyard.resume('drill', 'test', 'seen to')")
        await marker.run_once()
        assert yard.database.execute(paused) == []  # what was lost before the resume counts no more
        [[journal]] = yard.database.execute(
            "select count(*) from switchyard.journal where kind = 'lost_worker' and reason like '%%drill%%'"
        )
        assert journal == 3
    finally:
        await own.close()


async def test_old_rows_are_swept_and_live_ones_stay(yard: Yard) -> None:
    yard.database.execute(
        "insert into switchyard.worker (kind, host, started_at, beat_at, ended_at)"
        " values ('conductor', 'old', now() - interval '9 days', now(), now() - interval '8 days'),"
        " ('conductor', 'new', now(), now(), now()), ('conductor', 'live', now(), now(), null)"
    )
    own = OwnSession(yard.database.url)
    try:
        await LostWorkers(own, Workers(), yard.metrics.maintenance).run_once()
    finally:
        await own.close()
    hosts = yard.database.execute("select host from switchyard.worker order by host")
    assert hosts == [("live",), ("new",)]


async def test_hole_39_what_no_conductor_serves_waits_unless_a_time_is_set(yard: Yard) -> None:
    """newuser 1: a conductor with another file ended 89,770 actions of another application."""
    actions = {"drill": {"type": "noop"}}
    waits = Config.model_validate({"actions": actions})
    ends = Config.model_validate({"actions": actions, "conductor": {"unknown_after": "1h"}})
    yard.submit(1, "teleport")
    yard.submit(1)
    yard.database.execute(
        "insert into switchyard.action (action_uuid, action_name) select switchyard.uuid7(now() - interval '3 hours'), name"
        " from unnest(array['teleport', 'teleport', 'served', 'drill']) as name"
    )
    yard.database.execute(
        "insert into switchyard.worker (kind, host, action_name) values ('conductor', 'other', 'served')"
    )
    own = OwnSession(yard.database.url)
    try:
        await UnknownNames(own, lambda: waits).run_once()
        assert yard.statuses("teleport") == {"PENDING": 3}
        with yard.database.connect() as peer:
            [[held]] = peer.execute("select uuids[1] from switchyard.claim('teleport', 1)").fetchall()
            await UnknownNames(own, lambda: ends).run_once()
            assert yard.statuses("teleport") == {"PENDING": 2, "INVALID": 1}, held
        await eventually(lambda: not locked(yard))
        await UnknownNames(own, lambda: ends).run_once()
    finally:
        await own.close()
    assert yard.statuses("teleport") == {"PENDING": 1, "INVALID": 2}
    assert yard.statuses("served") == {"PENDING": 1}
    assert yard.statuses() == {"PENDING": 2}


def locked(yard: Yard) -> bool:
    return bool(yard.database.execute("select 1 from pg_locks where locktype = 'advisory' and objsubid = 1"))


async def test_the_queue_and_the_partitions_are_in_the_metrics(yard: Yard) -> None:
    yard.submit(7)
    own = OwnSession(yard.database.url)
    try:
        await queue_depth(own, yard.metrics.maintenance).run_once()
        await PartitionCare(own, Partitions(days_ahead=20), yard.metrics.maintenance).run_once()
        assert yard.metrics.maintenance.depth.labels(NAME, "PENDING")._value.get() == 7
        assert yard.metrics.maintenance.days_ahead._value.get() >= 20
        with yard.database.connect(autocommit=False) as other:
            other.execute("select switchyard.maintenance_lock()")
            assert (
                await PartitionCare(own, Partitions(days_ahead=30), yard.metrics.maintenance).run_once()
                == 10.0
            )
    finally:
        await own.close()


async def test_retention_drops_what_has_ended_and_comes_back_soon_for_the_rest(
    yard: Yard, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    for day in ("2024-01-01", "2024-01-02"):
        named = {"s": day.replace("-", ""), "d": day}
        with yard.database.connect() as connection, connection.transaction():
            connection.execute(
                "select switchyard.attach_partition(parent, %(s)s, %(d)s::timestamptz, %(d)s::timestamptz + interval '1 day')"
                " from unnest(array['action', 'thread', 'event']) as parent",
                named,
            )
            connection.execute(
                "insert into switchyard.partition_span values (%(d)s::timestamptz, %(d)s::timestamptz + interval '1 day', %(s)s)",
                named,
            )
    [[uuid]] = yard.database.execute(
        "insert into switchyard.action (action_uuid, action_name)"
        " values (switchyard.uuid7('2024-01-02 12:00Z'::timestamptz), 'x') returning action_uuid"
    )
    old = "select suffix from switchyard.partition_span where ends_at < '2025-01-01' order by 1"
    own = OwnSession(yard.database.url)
    care = PartitionCare(own, Partitions(retention=30 * 86400.0, every=3600.0), yard.metrics.maintenance)
    try:
        assert await PartitionCare(own, Partitions(every=3600.0), yard.metrics.maintenance).run_once() == 3600
        assert yard.database.execute(old) == [("20240101",), ("20240102",)], "without retention nothing goes"
        assert await care.run_once() == 3600
        assert yard.database.execute(old) == [("20240101",), ("20240102",)], (
            "one look at the clock is not enough"
        )
        assert await care.run_once() == 60
        assert yard.database.execute(old) == [("20240102",)]
        assert "1 threads have not ended" in caplog.text
        yard.database.execute("select switchyard.cancel(%s, 'ops', 'old')", uuid)
        assert await care.run_once() == 3600
        assert yard.database.execute(old) == []
    finally:
        await own.close()


async def test_hole_4_nothing_is_dropped_while_the_clocks_differ(
    yard: Yard, caplog: pytest.LogCaptureFixture
) -> None:
    """Seen from the conductor it is the server's clock that is 40 days ahead."""
    ledger = Ledger(yard.database, yard.database.connect())
    ledger.old_partition("2024-01-01")
    own = OwnSession(yard.database.url)
    settings = Partitions(retention=30 * 86400.0, every=3600.0)
    care = PartitionCare(own, settings, yard.metrics.maintenance, clock=lambda: time.time() - 40 * 86400)
    try:
        for _ in range(3):
            await care.run_once()
    finally:
        await own.close()
        ledger.connection.close()
    spans = "select count(*) from switchyard.partition_span where suffix = '20240101'"
    assert yard.database.execute(spans) == [(1,)]
    assert "the clocks of server and conductor differ" in caplog.text


async def test_an_empty_queue_is_not_read_again_although_its_lanes_are_known(yard: Yard) -> None:
    own = OwnSession(yard.database.url)
    depth = queue_depth(own, yard.metrics.maintenance)
    try:
        yard.submit(3)
        assert await depth.run_once() is not None
        await yard.drain(yard.served(limits={"in_flight": 2}))
        assert yard.database.execute("select count(*) from switchyard.lane") == [(1,)]
        assert await depth.run_once() is None
        assert next(iter(yard.metrics.maintenance.depth.collect())).samples == []
    finally:
        await own.close()


async def test_a_pause_is_seen_in_metrics_and_log(yard: Yard, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    own = OwnSession(yard.database.url)
    pauses = Pauses(own, yard.metrics.maintenance)
    try:
        yard.database.execute("select switchyard.pause('drill', 'ops', 'too hot')")
        await pauses.run_once()
        assert yard.metrics.maintenance.paused.labels(NAME)._value.get() == 1
        assert "too hot" in caplog.text
        async with own.session() as session:
            [[_, _, loops]] = await session.rows(
                query("conductor", "pulse"), {"workers": [], "names": [], "alone": []}
            )
        assert loops == [pauses.name], "the pulse wakes a conductor that did not know"
        yard.database.execute("select switchyard.resume('drill', 'ops', 'cooled')")
        await pauses.run_once()
        assert "resumed" in caplog.text
        assert await pauses.run_once() is None
    finally:
        await own.close()


async def test_claim_dispatch_and_outcome_are_traced_by_correlation_id(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[tuple[str, str | None]] = []

    class Recording:
        """Keeps the name and the correlation id of each step."""

        @contextmanager
        def span(self, step: str, ids: tracing.Ids, attributes: object) -> Iterator[tracing.Step]:
            steps.append((step, ids[1]))
            yield tracing.Step()

        def mark(self, step: str, ids: tracing.Ids, attributes: object, seconds: float) -> None:
            assert seconds >= 0
            steps.append((step, ids[1]))

        def headers(self) -> dict[str, str]:
            return {}

        def close(self) -> None:
            """Nothing to send."""

    monkeypatch.setattr(tracing, "_tracing", Recording())
    yard.database.execute(
        "insert into switchyard.action (action_name, correlation_id) values ('drill', 'order-66')"
    )
    await yard.drain(yard.served(Script()))
    assert steps == [("claim", "order-66"), ("dispatch", "order-66"), ("outcome", "order-66")]


async def test_more_than_one_can_take_wakes_the_peers(yard: Yard) -> None:
    first, second = Script(), Script()
    first.gate.clear()
    second.gate.clear()
    yard.start(yard.served(first, concurrency=2), poll="1h")
    yard.start(yard.served(second, concurrency=2), poll="1h")
    await eventually(lambda: (len(yard.backends()), yard.armed()) == (2, 1))
    yard.submit(4)
    await eventually(lambda: first.flying + second.flying == 4)
    first.gate.set()
    second.gate.set()
    await eventually(lambda: yard.statuses() == {"SUCCESSFUL": 4})


async def test_hole_27_a_callback_for_a_name_that_conductor_does_not_know_yet_waits(yard: Yard) -> None:
    """A rolling upgrade, caboose first: its callbacks are for an action name of the new configuration."""
    older = Config.model_validate({"actions": {"drill": {"type": "noop"}}})
    yard.database.execute(
        "insert into switchyard.worker (kind, host, config_hash) values ('caboose', 'new', 'the new configuration')"
    )
    yard.submit(3, "added")
    own = OwnSession(yard.database.url)
    try:
        for _ in range(3):
            assert await UnknownNames(own, lambda: older).run_once() > 0
    finally:
        await own.close()
    assert yard.statuses("added") == {"PENDING": 3}
    await yard.drain(yard.served(name="added"))
    assert yard.statuses("added") == {"SUCCESSFUL": 3}


def test_security_l12_names_without_a_conductor_do_not_keep_maintenance_busy(yard: Yard) -> None:
    """One call ends after about two seconds, looks only at names with something old, and the next continues."""
    yard.database.execute(
        "insert into switchyard.action (action_uuid, action_name)"
        " select switchyard.uuid7(now() - interval '3 hours'), 'old ' || n from generate_series(1, 8) as n"
    )
    yard.database.execute(
        "insert into switchyard.action (action_name, start_after)"
        " select 'later ' || n, now() + interval '1 day' from generate_series(1, 5000) as n"
    )
    yard.database.execute(
        "create function public.slow() returns trigger language plpgsql as"
        " $$ begin perform pg_sleep(0.5); return null; end $$"
    )
    yard.database.execute(
        "create trigger slow after insert on switchyard.event for each statement execute function public.slow()"
    )
    passes = list[int]()
    while sum(passes) < 8 and len(passes) < 8:
        rows = yard.database.execute("select * from switchyard.end_unserved('{}', interval '1 hour', 500)")
        passes.append(len(rows))
    assert 1 <= passes[0] < 8, "a slow pass is cut short"
    assert sum(passes) == 8
    assert yard.database.execute(
        "select distinct left(action_name, 3) from switchyard.thread where status = 'INVALID'"
    ) == [("old",)]


async def test_hole_16_retries_recorded_by_a_clock_that_was_ahead_recover_with_the_clock(yard: Yard) -> None:
    """`verify` at the end of the test finds that events, threads and the queue agree."""
    wrong, later, open_run, again, scheduled = yard.submit(5)
    backoff = (
        "insert into switchyard.event (action_uuid, event_time, status, run, attempt, retry_seconds)"
        " values (%s, now() + make_interval(secs => %s), 'BACKOFF', %s, %s, %s)"
    )
    yard.database.execute(backoff, wrong, 3600, 1, 1, 2)
    yard.database.execute(backoff, later, 0, 1, 1, 3600)
    yard.database.execute(backoff, open_run, 3600, 2, 0, 3)
    yard.database.execute(backoff, again, 3600, 1, 1, 2)
    yard.database.execute(backoff, again, 0, 1, 2, 3600)  # by the right clock
    due = "select extract(epoch from due - now()) from switchyard.yard where action_uuid = %s"
    own = OwnSession(yard.database.url)
    try:
        assert await ClockCare(own).run_once(), "retries are there: it looks again"
    finally:
        await own.close()
    assert 0 < yard.database.execute(due, wrong)[0][0] <= 2
    assert 0 < yard.database.execute(due, open_run)[0][0] <= 3
    assert 3500 < yard.database.execute(due, later)[0][0] <= 3600, "it was meant so"
    assert 3500 < yard.database.execute(due, again)[0][0] <= 3600, (
        "only an earlier attempt was recorded wrong"
    )
    assert yard.database.execute(due, scheduled) == [(None,)]
    assert yard.database.execute("select switchyard.correct_backoff(500)") == [(0,)]
