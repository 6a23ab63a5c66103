"""The SQL function tick and its neighbours: each tick once, whatever revisions and other conductors do."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest

from tests.integration.schedules.schedule import apply, end_all, row, tick, ticks
from tests.parts.database import Database

pytestmark = pytest.mark.database
HOUR = timedelta(hours=1)


def due(database: Database) -> datetime:
    at: datetime = row(database)["next_at"]
    return at


def actions(database: Database) -> list[tuple[str, str]]:
    return [
        (name, at)
        for name, at in database.execute(
            "select action_name, parameters ->> 'at' from switchyard.action order by 2, 1"
        )
    ]


def test_a_tick_submits_one_action_with_its_time(database: Database) -> None:
    apply(database)
    at = due(database)
    assert tick(database, at, next_at=at + 2 * HOUR) == 1
    assert actions(database) == [("noop", f"{at:%Y-%m-%dT%H:%M:%SZ}")]
    [(correlation, lane)] = database.execute("select correlation_id, lane from switchyard.action")
    assert lane == "night"
    assert correlation == f"schedule s {at:%Y-%m-%dT%H:%M:%SZ}"
    assert (row(database)["last_at"], row(database)["fired"]) == (at, 1)


def test_of_eight_at_once_one_fires(database: Database) -> None:
    apply(database)
    read = row(database)
    at = read["next_at"]
    with ThreadPoolExecutor(8) as pool:
        fired = list(
            pool.map(lambda _: tick(database, at, next_at=at + 2 * HOUR, revision=1, next=at), range(8))
        )
    assert sorted(fired, key=str) == [1, *[None] * 7]
    assert len(actions(database)) == 1


def test_a_conductor_with_an_older_definition_is_refused(database: Database) -> None:
    apply(database)
    at = due(database)
    apply(database, next_at=at, action_name="other")
    assert tick(database, at, next_at=at + 2 * HOUR, revision=1) is None
    assert tick(database, at, next_at=at + 2 * HOUR) == 1
    assert [name for name, _ in actions(database)] == ["other"]


def test_a_revision_that_names_a_past_tick_does_not_fire_it_again(database: Database) -> None:
    """Idempotency keys are per action name: with them alone, another name would fire the tick again."""
    apply(database)
    at = due(database)
    tick(database, at, next_at=at + HOUR)
    apply(database, next_at=at, action_name="other")
    assert tick(database, at, at + HOUR, next_at=at + 2 * HOUR) == 1
    assert [name for name, _ in actions(database)] == ["noop", "other"]


def test_a_schedule_that_is_removed_and_made_again_does_not_repeat_a_tick(database: Database) -> None:
    apply(database)
    at = due(database)
    tick(database, at, next_at=at + HOUR)
    database.execute("select switchyard.remove_schedule('s', 'test', 'once more')")
    apply(database, next_at=at, parameters={"other": True})
    assert tick(database, at, next_at=at + HOUR) == 0
    assert len(actions(database)) == 1


def test_an_unchanged_definition_changes_nothing(database: Database) -> None:
    assert apply(database)
    before = row(database)
    assert not apply(database, next_at=before["next_at"] + HOUR)
    assert row(database) == before


def test_times_that_do_not_fit_are_refused(database: Database) -> None:
    apply(database)
    at = due(database)
    for fire, next_at in (
        ([at], at),
        ([at - HOUR], at + HOUR),
        ([at + HOUR], at + HOUR),
        ([at + 9 * HOUR], at + 10 * HOUR),
    ):
        with pytest.raises(psycopg.errors.InvalidParameterValue, match="do not fit together"):
            tick(database, *fire, next_at=next_at)
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="do not fit together"):
        tick(database, at, next_at=at + HOUR, missed=-1)
    many = [at + HOUR * number / 2000 for number in range(1001)]
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="do not fit together"):
        tick(database, *many, next_at=at + HOUR)
    assert actions(database) == []


@pytest.mark.parametrize(
    "change",
    [
        {"starts_at": "infinity"},
        {"ends_at": "-infinity"},
        {"ends_at": "20000-01-01"},
        {"starts_at": "0044-03-15 BC"},
        {"every": "NaN"},
        {"every": "Infinity"},
        {"every": 0.5},
        {"catch_up_window": "Infinity"},
        {"jitter": "NaN"},
    ],
)
def test_what_no_conductor_could_read_is_refused(database: Database, change: dict[str, Any]) -> None:
    with pytest.raises(psycopg.errors.CheckViolation):
        apply(database, **change)
    assert database.execute("select count(*) from switchyard.schedule") == [(0,)]


def test_skip(database: Database) -> None:
    apply(database, overlap="skip")
    at = due(database)
    assert tick(database, at, at + HOUR, next_at=at + 2 * HOUR) == 1
    assert [outcome for _, outcome in ticks(database)] == ["fired", "skipped"]
    assert row(database)["skipped"] == 1


def test_skip_also_while_the_last_action_was_retriggered(database: Database) -> None:
    apply(database, overlap="skip")
    at = due(database)
    tick(database, at, next_at=at + HOUR)
    [(uuid,)] = database.execute("select action_uuid from switchyard.yard")
    database.execute("select switchyard.cancel(%s, 'test', 'stop')", uuid)
    database.execute("select switchyard.retrigger(%s, 'test', 'again')", uuid)
    tick(database, at + HOUR, next_at=at + 2 * HOUR)
    assert [outcome for _, outcome in ticks(database)] == ["fired", "skipped"]


def test_allow(database: Database) -> None:
    apply(database, overlap="allow")
    at = due(database)
    assert tick(database, at, at + HOUR, next_at=at + 2 * HOUR) == 2
    assert row(database)["open"] == 2


def test_replace_cancels_the_open_one(database: Database) -> None:
    apply(database, overlap="replace")
    at = due(database)
    assert tick(database, at, at + HOUR, next_at=at + 2 * HOUR) == 2
    statuses = database.execute("select status::text, error from switchyard.thread order by action_uuid")
    assert [status for status, _ in statuses] == ["CANCELED", "PENDING"]
    assert "canceled by schedule s: replaced by the tick" in statuses[0][1]


def test_queue_submits_one_after_the_other_in_order(database: Database) -> None:
    apply(database, overlap="queue", next_at=None)
    at = due(database)
    assert tick(database, at, at + HOUR / 2, at + HOUR, next_at=at + 2 * HOUR) == 1
    assert [outcome for _, outcome in ticks(database)] == ["fired", "queued", "queued"]
    for n in (2, 3):
        assert database.execute("select switchyard.release_tick('s')") == [(None,)]
        end_all(database)
        [(released,)] = database.execute("select switchyard.release_tick('s')")
        assert isinstance(released, UUID)
        assert len(actions(database)) == n
    end_all(database)
    assert database.execute("select switchyard.release_tick('s')") == [(None,)]
    assert [name for _, name in actions(database)] == sorted(name for _, name in actions(database))


def test_the_queue_of_one_schedule_is_nothing_to_another(database: Database) -> None:
    """Neither what is queued nor what is released counts for it."""
    apply(database, overlap="queue")
    apply(database, "other", overlap="queue")
    at = due(database)
    tick(database, at, at + HOUR / 2, next_at=at + HOUR)
    assert [outcome for _, outcome in ticks(database)] == ["fired", "queued"]
    before = row(database, "other")
    known = "select switchyard.tick('other', 1, %s, array[%s::timestamptz], %s, 0)"
    assert database.execute(known, before["next_at"], at, at + HOUR) == [(1,)]
    assert [outcome for _, outcome in ticks(database, "other")] == ["fired"]
    recent = "select recent, fired from switchyard.schedule where name = 'other'"
    of_other = database.execute(recent)
    end_all(database)
    assert database.execute("select switchyard.release_tick('s')") != [(None,)]
    assert database.execute(recent) == of_other


def test_a_tick_queues_behind_queued_ones_even_where_nothing_is_open(database: Database) -> None:
    apply(database, overlap="queue")
    at = due(database)
    tick(database, at, at + HOUR / 2, next_at=at + HOUR)
    end_all(database)
    tick(database, at + HOUR, next_at=at + 2 * HOUR)
    assert [outcome for _, outcome in ticks(database)] == ["fired", "queued", "queued"]


def test_a_queue_of_more_than_a_hundred_skips(database: Database) -> None:
    apply(database, overlap="queue", every=1)
    at = due(database)
    moments = [at + timedelta(seconds=n) for n in range(103)]
    tick(database, *moments, next_at=at + HOUR * 2)
    outcomes = [outcome for _, outcome in ticks(database)]
    assert (outcomes.count("queued"), outcomes.count("skipped")) == (100, 2)


@pytest.mark.parametrize(
    ("catch_up", "fired", "review"), [("none", 0, True), ("last", 1, False), ("all", 1, True)]
)
def test_missed_ticks_are_reported_once_with_their_number(
    database: Database, catch_up: str, fired: int, review: bool
) -> None:
    apply(database, catch_up=catch_up)
    at = due(database)
    tick(database, *[at] * fired, next_at=at + 2 * HOUR, missed=23)
    entries = database.execute(
        "select subject, reason, needs_review, detail ->> 'missed' from switchyard.journal where kind = 'missed_ticks'"
    )
    assert [(subject, number, needs) for subject, _, needs, number in entries] == [("s", "23", review)]
    assert entries[0][1].startswith("23 ticks from ")
    assert row(database)["missed"] == 23


def test_a_paused_schedule_does_not_fire_and_its_ticks_are_not_missed(database: Database) -> None:
    apply(database, overlap="queue")
    at = due(database)
    tick(database, at, at + HOUR / 2, next_at=at + HOUR)
    end_all(database)
    assert database.execute("select switchyard.pause_schedule('s', 'ann', 'moving')") == [(True,)]
    assert database.execute("select switchyard.pause_schedule('s', 'ben', 'too')") == [(False,)]
    assert tick(database, at + HOUR, next_at=at + 2 * HOUR) is None
    assert database.execute("select switchyard.release_tick('s')") == [(None,)]
    assert (row(database)["paused_by"], row(database)["paused_because"]) == ("ann", "moving")
    resumed = "select switchyard.resume_schedule('s', %s, %s, 'ann', 'done')"
    with pytest.raises(psycopg.errors.SerializationFailure):
        database.execute(resumed, 7, at + 5 * HOUR)
    assert database.execute(resumed, 1, at + 5 * HOUR) == [(True,)]
    assert (row(database)["next_at"], row(database)["missed"]) == (at + 5 * HOUR, 0)
    kinds = database.execute(
        "select kind, actor from switchyard.journal where kind like '%%_schedule' order by 1"
    )
    assert kinds == [("pause_schedule", "ann"), ("resume_schedule", "ann")]


def test_what_is_not_paused_is_not_resumed(database: Database) -> None:
    apply(database)
    before = row(database)
    resumed = "select switchyard.resume_schedule('s', 1, %s, 'ann', 'done')"
    assert database.execute(resumed, before["next_at"] + 5 * HOUR) == [(False,)]
    assert row(database) == before


def test_trigger_fires_now_and_counts_as_open(database: Database) -> None:
    apply(database, overlap="skip")
    at = due(database)
    [(uuid,)] = database.execute("select switchyard.trigger_schedule('s', 'ann', 'late data')")
    tick(database, at, next_at=at + 2 * HOUR)
    assert database.execute("select action_uuid from switchyard.action") == [(uuid,)]
    assert [outcome for _, outcome in ticks(database)] == ["skipped", "triggered"]


def test_backfill_submits_what_did_not_fire(database: Database) -> None:
    apply(database, overlap="skip")
    at = due(database)
    tick(database, at, at + HOUR / 2, next_at=at + 2 * HOUR)
    moments = [at - HOUR, at - 2 * HOUR, at, at + HOUR / 2]
    backfill = "select switchyard.backfill_schedule('s', %s, 'ann', 'new archive')"
    assert database.execute(backfill, moments) == [
        (3,)
    ]  # the one that fired is left out, the skipped one is not
    assert database.execute(backfill, moments) == [(0,)]
    assert len(actions(database)) == 4
    assert row(database)["open"] == 1  # what was backfilled does not count for overlap


def test_a_backfill_of_the_future_is_refused(database: Database) -> None:
    apply(database)
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        database.execute(
            "select switchyard.backfill_schedule('s', array[now() + interval '1 hour'], 'a', 'b')"
        )


def test_a_backfill_takes_at_most_a_thousand_times_and_knows_each(database: Database) -> None:
    apply(database)
    at = due(database)
    backfill = "select switchyard.backfill_schedule('s', %s::timestamptz[], 'ann', 'new archive')"
    moments = [at - timedelta(seconds=n) for n in range(1001)]
    for refused in (moments, [at, None]):
        with pytest.raises(psycopg.errors.InvalidParameterValue, match="at most 1000 times"):
            database.execute(backfill, refused)
    assert actions(database) == []
    assert database.execute(backfill, moments[:1000]) == [(1000,)]


def test_jitter_is_the_same_at_every_tick_and_differs_between_schedules(database: Database) -> None:
    at = datetime.now().astimezone().replace(microsecond=0)
    for name in ("a", "b", "c"):
        apply(database, name, next_at=at - HOUR, jitter=86400)
        database.execute(
            "select switchyard.tick(%s, 1, %s, %s, %s, 0)",
            name,
            at - HOUR,
            [at - HOUR, at - HOUR / 2],
            at + HOUR,
        )
    rows = database.execute(
        "select split_part(correlation_id, ' ', 2), start_after - (parameters ->> 'at')::timestamptz from switchyard.action"
    )
    offsets = {name: {offset for owner, offset in rows if owner == name} for name in ("a", "b", "c")}
    assert [len(found) for found in offsets.values()] == [1, 1, 1]
    assert len({offset for found in offsets.values() for offset in found}) == 3


def test_a_workflow_runs_under_the_name_that_conductors_announced(database: Database) -> None:
    apply(database, action_name="old", workflow="w")
    database.execute("insert into switchyard.route values ('w', 'new')")
    at = due(database)
    tick(database, at, next_at=at + 2 * HOUR)
    assert database.execute("select action_name, workflow from switchyard.action") == [("new", "w")]


def test_old_ticks_are_removed_with_their_partition(database: Database) -> None:
    apply(database, overlap="skip")
    at = due(database)
    tick(database, at, at + HOUR / 2, next_at=at + 2 * HOUR)
    end_all(database)
    database.execute(
        "update switchyard.schedule_tick set decided_at = '2020-01-01 12:00Z' where outcome = 'skipped'"
    )
    database.execute(
        "select switchyard.attach_partition(parent, '20200101', '2020-01-01Z', '2020-01-02Z')"
        " from unnest(array['action', 'thread', 'event']) as parent"
    )
    database.execute(
        "insert into switchyard.partition_span values ('2020-01-01Z', '2020-01-02Z', '20200101')"
    )
    assert database.execute("select switchyard.drop_partition('20200101')") == [(None,)]
    assert [outcome for _, outcome in ticks(database)] == ["fired"]
