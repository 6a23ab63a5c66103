"""Campaigns in SQL: fed once, submitted as there is room, one end, decisions about the whole."""

import json
import time

import psycopg
import pytest

from tests.integration.sets.campaigns import (
    feed,
    items,
    members,
    row,
    run_to_the_end,
    start,
    submit_items,
)
from tests.integration.sets.graphs import ends, settle, tally, verified
from tests.integration.waiting.joins import end, settlers, status
from tests.parts.database import Database

pytestmark = pytest.mark.database


def test_as_many_are_open_as_there_is_room_for_and_the_end_comes_once(database: Database) -> None:
    with database.connect() as connection:
        campaign = start(connection, in_flight=10)
        assert feed(connection, campaign, items(range(15)), last=False) == 15
        assert feed(connection, campaign, items(range(10, 25)), cursor=1) == 10
        submit_items(connection)
        first = members(database, campaign)
        assert len(first) == 10
        end(connection, *first[:4])
        submit_items(connection)
        assert len(members(database, campaign)) == 10
        assert (row(database)["waiting"], row(database)["open"]) == (11, 10)
        run_to_the_end(database, connection, campaign)
        settle(connection)
    assert ends(database, campaign) == [(1, "SUCCESSFUL", None)]
    scenes = database.execute(
        "select (parameters ->> 'scene')::int from switchyard.action where member_of is not null order by action_uuid"
    )
    assert scenes == [(number,) for number in range(25)]
    found = row(database)
    assert (found["items"], found["successful"], found["repeated"], found["open"]) == (25, 25, 5, 0)
    assert verified(database)


def test_the_rate_of_the_last_five_minutes_and_the_time_that_is_left(database: Database) -> None:
    with database.connect() as connection:
        campaign = start(connection, in_flight=40)
        feed(connection, campaign, items(range(100)))
        submit_items(connection)
        assert (row(database)["per_second"], row(database)["seconds_left"]) == (0, None)
        found = members(database, campaign)
        end(connection, *found[:27])
        end(connection, *found[27:30], status="FAILED")
        submit_items(connection)  # folds the tally
        settle(connection)
    [(age,)] = database.execute(
        "select extract(epoch from now() - created_at)::float from switchyard.thread where action_uuid = %s",
        campaign,
    )
    pace = row(database)
    assert 30 / max(1, age + 30) < pace["per_second"] <= 30 / max(1, age)
    assert pace["seconds_left"] == pytest.approx(70 / pace["per_second"])
    database.execute("update switchyard.tally set at = at - interval '6 minutes'")
    assert (row(database)["per_second"], row(database)["seconds_left"]) == (0, None)


def test_a_batch_of_items_costs_the_same_however_many_wait(database: Database) -> None:
    """A session plans its statements while the campaign has no items, and keeps the plans."""

    def seconds() -> float:
        """The fastest of three batches."""
        taken = []
        for _ in range(3):
            began = time.monotonic()
            connection.execute("select switchyard.submit_items(200)")
            taken.append(time.monotonic() - began)
        return min(taken)

    with database.connect() as connection:
        campaign = start(connection, in_flight=5000)
        seconds(), seconds(), seconds()  # Postgres keeps a plan from the sixth execution on
        feed(connection, campaign, items(range(1000)), last=False)
        beside_few = seconds()
        for page in range(1, 4):
            feed(connection, campaign, items(range(page * 10_000, (page + 1) * 10_000)), page, last=False)
        assert seconds() < 3 * beside_few


def test_a_page_counts_once_whichever_conductor_submits_it(database: Database) -> None:
    with database.connect() as connection:
        campaign = start(connection)
        assert feed(connection, campaign, items("ab"), last=False) == 2
        assert feed(connection, campaign, items("cd"), last=False) is None  # somebody else was first
        assert feed(connection, campaign, items("cd"), cursor=1) == 2
        assert feed(connection, campaign, items("ef"), cursor=2) is None  # it is complete
    assert row(database)["items"] == 4


def test_items_without_an_id_are_counted_and_reported(database: Database) -> None:
    with database.connect() as connection:
        campaign = start(connection)
        bad: list[dict[str, object]] = [
            {},
            {"id": "x"},
            {"id": "", "parameters": {}},
            {"id": "y", "parameters": []},
            {"id": "z", "parameters": {"a": json.loads("[" * 250 + "]" * 250)}},
        ]
        connection.execute(
            "insert into switchyard.journal (kind, subject, needs_review) values ('other', 'spring', true)"
        )
        assert feed(connection, campaign, [*bad, *items("a")]) == 1
    assert row(database)["rejected"] == 5
    [(reason,)] = database.execute("select error from switchyard.inbox where kind = 'campaign'")
    assert reason == "5 items of the source have no id, or are not objects: they were left out"
    assert row(database)["priority"] == 200


def test_a_source_that_repeats_itself_for_ever_is_stopped_and_reported(database: Database) -> None:
    with database.connect() as connection:
        campaign = start(connection)
        for cursor in range(101):
            feed(connection, campaign, items("ab"), cursor=cursor, last=False)
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="nothing new"):
            feed(connection, campaign, items("ab"), cursor=101, last=False)
    [(subject, reason)] = database.execute(
        "select subject, error from switchyard.inbox where kind = 'campaign'"
    )
    assert (subject, "repeat itself" in reason) == ("spring", True)


def test_an_item_that_cannot_be_submitted_delays_neither_its_campaign_nor_another(database: Database) -> None:
    with database.connect() as connection:
        bad, good = start(connection, "bad", in_flight=4), start(connection, "good")
        connection.execute(
            "alter table switchyard.action add constraint c check (parameters -> 'scene' <> '13')"
        )
        feed(connection, bad, items([13, *range(20, 30)]))
        feed(connection, good, items([1]))
        submit_items(connection)
        assert [len(members(database, each)) for each in (bad, good)] == [3, 1]
        assert row(database, "bad")["source_error"].startswith("item 13 could not be submitted: new row")
        while len(done := members(database, bad, "SUCCESSFUL")) < 10:
            end(connection, *members(database, bad))
            submit_items(connection)
        assert len(done) == 10
        submit_items(connection)
        assert connection.execute(
            "select not_before > now() from switchyard.campaign where name = 'bad'"
        ).fetchall() == [(True,)]
        assert status(database, bad) == "RUNNING"
        connection.execute("alter table switchyard.action drop constraint c")
        connection.execute("update switchyard.campaign set not_before = now()")
        run_to_the_end(database, connection, bad)
    assert len(members(database, bad, "SUCCESSFUL")) == 11
    assert status(database, bad) == "SUCCESSFUL"
    assert len(database.execute("select subject from switchyard.inbox where kind = 'campaign'")) == 1


def test_paused_and_resumed(database: Database) -> None:
    with database.connect() as connection:
        campaign = start(connection, in_flight=2)
        feed(connection, campaign, items(range(5)))
        submit_items(connection)
        pause = "select switchyard.pause_campaign('spring', 'me', 'because')"
        assert [connection.execute(pause).fetchall() for _ in range(2)] == [[(True,)], [(False,)]]
        end(connection, *members(database, campaign))
        submit_items(connection)
        assert members(database, campaign) == []
        connection.execute("listen switchyard_maintenance")
        resume = "select switchyard.resume_campaign('spring', 'me', 'because')"
        assert [connection.execute(resume).fetchall() for _ in range(2)] == [[(True,)], [(False,)]]
        [woken] = connection.notifies(timeout=10, stop_after=1)
        assert woken.channel == "switchyard_maintenance"
        run_to_the_end(database, connection, campaign)
    assert status(database, campaign) == "SUCCESSFUL"


def test_every_step_of_a_campaign_wakes_the_settle_loop(database: Database) -> None:
    with database.connect() as connection, settlers(database) as woken:
        campaign = start(connection)
        assert woken() == {"maintenance", "joins"}
        feed(connection, campaign, items("ab"))
        assert woken() == {"maintenance", "joins"}
        submit_items(connection)
        woken()
        submit_items(connection)  # nothing is left: it has no more members
        assert woken() == {"maintenance", "joins"}


def test_the_middle_of_a_large_batch_is_watched(database: Database) -> None:
    """Its end notifies: the next are submitted before all have ended."""
    with database.connect() as connection:
        campaign = start(connection, in_flight=10)
        feed(connection, campaign, items(range(30)))
        submit_items(connection)
        first = members(database, campaign)
        watched = "select action_uuid from switchyard.yard where watched and member_of is not null"
        assert database.execute(watched) == [(first[4],)]
        with settlers(database) as woken:
            end(connection, first[4])
            assert woken() == {"joins"}
            submit_items(connection)
    assert len(members(database, campaign)) == 10
    assert database.execute(watched) == [], "a batch of one is not"


def test_a_campaign_that_was_set_aside_is_left_alone_until_its_time(database: Database) -> None:
    with database.connect() as connection:
        campaign = start(connection)
        feed(connection, campaign, items("ab"))
        connection.execute("update switchyard.campaign set not_before = now() + interval '1 hour'")
        submit_items(connection)
        assert members(database, campaign) == []
        connection.execute("update switchyard.campaign set not_before = now()")
        submit_items(connection)
        assert len(members(database, campaign)) == 2


def test_an_item_that_another_conductor_has_is_not_waited_for(database: Database) -> None:
    with database.connect() as connection, database.connect(autocommit=False) as other:
        campaign = start(connection)
        feed(connection, campaign, items("abc"))
        other.execute("select from switchyard.campaign_item where id = 'b' for update")
        connection.execute("set lock_timeout = '5s'")
        submit_items(connection)
        assert len(members(database, campaign)) == 2
        other.rollback()
        submit_items(connection)
    assert len(members(database, campaign)) == 3


def test_a_source_that_was_read_to_its_end_is_reported_no_more(database: Database) -> None:
    with database.connect() as connection:
        campaign = start(connection)
        for cursor in range(101):  # the last page ends the reading, however many gave nothing new
            feed(connection, campaign, items("ab"), cursor=cursor, last=cursor == 100)
        connection.execute("select switchyard.report_source(%s, 'gone')", [campaign])
    assert database.execute("select error from switchyard.inbox where kind = 'campaign'") == []
    assert row(database)["source_error"] is None


@pytest.mark.parametrize("length", [500, 501])
def test_the_id_of_an_item_has_up_to_500_characters(database: Database, length: int) -> None:
    with database.connect() as connection:
        assert feed(connection, start(connection), items(["x" * length])) == (length == 500)


@pytest.mark.parametrize("count", [10000, 10001])
def test_a_page_has_up_to_10000_items(database: Database, count: int) -> None:
    with database.connect() as connection:
        campaign = start(connection)
        if count == 10000:
            assert feed(connection, campaign, [{}] * count) == 0
        else:
            with pytest.raises(psycopg.errors.InvalidParameterValue, match="at most 10000"):
                feed(connection, campaign, [{}] * count)


@pytest.mark.parametrize("decision", ["pause", "resume"])
@pytest.mark.parametrize("by", ["'', 'because'", "'me', ''"])
def test_pause_and_resume_record_the_actor_and_the_reason(database: Database, decision: str, by: str) -> None:
    with database.connect() as connection:
        start(connection)
        if decision == "resume":
            connection.execute("select switchyard.pause_campaign('spring', 'me', 'because')")
        with pytest.raises(psycopg.errors.NullValueNotAllowed, match="must say something"):
            connection.execute(f"select switchyard.{decision}_campaign('spring', {by})")


def test_a_retrigger_of_one_campaign_waits_for_no_other(database: Database) -> None:
    with database.connect() as connection, database.connect(autocommit=False) as holder:
        start(connection)
        other = start(connection, "other")
        holder.execute("select from switchyard.sets where action_uuid = %s for update", [other])
        connection.execute("set lock_timeout = '50ms'")
        again = "select switchyard.retrigger_campaign('spring', 10, 'me', 'again')"
        assert connection.execute(again).fetchall() == [(0,)]


def test_a_canceled_campaign_submits_nothing_and_continues_after_a_retrigger(database: Database) -> None:
    with database.connect() as connection:
        campaign = start(connection, in_flight=2)
        feed(connection, campaign, items(range(5)))
        submit_items(connection)
        connection.execute("select switchyard.cancel(%s, 'me', 'wrong')", [campaign])
        settle(connection)
        submit_items(connection)
        assert tally(database, campaign) == (2, 0, 2, 0)
        assert feed(connection, campaign, items("x"), cursor=1) is None
        early = start(connection, "early")
        connection.execute("select switchyard.cancel(%s, 'me', 'wrong')", [early])
        assert feed(connection, early, items("x")) is None, (
            "it is over, though its source was not read to its end"
        )
        connection.execute("update switchyard.thread set callbacks_due = false")  # as caboose does
        [(retriggered,)] = connection.execute(
            "select switchyard.retrigger_campaign('spring', 1000, 'me', 'right')"
        ).fetchall()
        assert retriggered == 2
        run_to_the_end(database, connection, campaign)
    assert tally(database, campaign) == (5, 5, 0, 0)
    assert [end[:2] for end in ends(database, campaign)] == [(1, "CANCELED"), (2, "SUCCESSFUL")]
    assert verified(database)


@pytest.mark.parametrize(("policy", "ended"), [("successful", "FAILED"), ("ended", "SUCCESSFUL")])
def test_failures_are_retriggered_as_one(database: Database, policy: str, ended: str) -> None:
    with database.connect() as connection:
        campaign = start(connection, policy=policy)
        feed(connection, campaign, items(range(4)))
        submit_items(connection)
        found = members(database, campaign)
        end(connection, *found[:2], status="FAILED")
        end(connection, *found[2:])
        submit_items(connection)
        settle(connection)
        assert status(database, campaign) == ended
        connection.execute("update switchyard.thread set callbacks_due = false")
        [(retriggered,)] = connection.execute(
            "select switchyard.retrigger_campaign('spring', 1000, 'me', 'again')"
        ).fetchall()
        assert retriggered == 2
        assert row(database)["open"] == 2
        run_to_the_end(database, connection, campaign)
    assert status(database, campaign) == "SUCCESSFUL"
    assert tally(database, campaign) == (4, 4, 0, 0)
    assert verified(database)


def test_another_campaign_under_the_same_name_is_refused(database: Database) -> None:
    with database.connect() as connection:
        assert start(connection) == start(connection)
        with pytest.raises(psycopg.errors.UniqueViolation, match="there is a campaign spring already"):
            connection.execute("select switchyard.start_campaign('spring', '{}', 10, action_name => 'other')")


def test_only_operators_and_administrators_start_campaigns(database: Database) -> None:
    with database.connect() as connection:
        connection.execute("set role switchyard_operator")
        campaign = start(connection)
        assert feed(connection, campaign, items("a")) == 1
        connection.execute("set role switchyard_submitter")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            start(connection, "mine")
