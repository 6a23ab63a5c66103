"""Which actions are the same computation, and whose result may be reused."""

from typing import Any

import pytest

from tests.integration.reuse.rules import announce, ask, computing, reused, roles, settle
from tests.integration.waiting.joins import Connection, end, held, ready, status, submit
from tests.parts.database import Database

pytestmark = pytest.mark.database


def test_one_computes_and_the_others_get_its_result(database: Database) -> None:
    with database.connect() as connection:
        announce(connection)
        asked = [ask(connection) for _ in range(3)]
        assert all(held(database, each) for each in asked)
        assert settle(connection) == 0
        assert computing(database, *asked) == asked[:1]
        assert ready(database, asked[0])
        assert [roles(database)[each] for each in asked] == ["leads", "follows", "follows"]
        end(connection, asked[0])
        settle(connection)
        for each in asked[1:]:
            assert (status(database, each), reused(database, each)) == ("SUCCESSFUL", (asked[0], 1))
        assert roles(database) == {asked[0]: "result"}
        later = ask(connection)
        settle(connection)
    assert reused(database, later) == (asked[0], 1)
    assert reused(database, asked[0]) is None
    [(note, due)] = database.execute(
        "select note, callbacks_due from switchyard.thread where action_uuid = %s", later
    )
    assert note == f"has the result of run 1 of {asked[0]}"
    assert due  # it has callbacks of its own


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"item": {"a": 1, "b": 1}}, {"item": {"b": 1.0, "a": 1.00}}),
        ({"item": 7, "note": "x"}, {"item": 7, "note": "y"}),
        ({"item": None}, {"item": None}),
    ],
)
def test_parameters_that_the_key_cannot_tell_apart(
    database: Database, one: dict[str, Any], other: dict[str, Any]
) -> None:
    assert _leaders(database, {}, one, other) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"item": 1}, {"item": "1"}),
        ({"item": [1, 2]}, {"item": [2, 1]}),
        ({"item": None}, {"edition": 1}),
        ({"other": 1}, {"other": 1}),  # no path finds anything: nobody knows what they are
        ({"item": 1}, {"switchyard:parameters": "stored", "item": 1}),
    ],
)
def test_parameters_that_differ(database: Database, one: dict[str, Any], other: dict[str, Any]) -> None:
    assert _leaders(database, {"key": ["$.item", "$.edition"]}, one, other) == 2


def _leaders(database: Database, rule: dict[str, Any], *parameters: dict[str, Any]) -> int:
    with database.connect() as connection:
        announce(connection, **rule)
        asked = [ask(connection, parameters=each) for each in parameters]
        settle(connection)
        return len(computing(database, *asked))


def test_two_keys_with_one_hash_are_two(database: Database) -> None:
    with database.connect() as connection:
        announce(connection)
        one, other = _collision(connection)
        asked = [ask(connection, item) for item in (one, other, one, other)]
        [(hashes, keys)] = connection.execute(
            "select count(distinct jsonb_hash(key)), count(distinct key) from switchyard.reuse"
        ).fetchall()
        assert (hashes, keys) == (1, 2)
        settle(connection)
        assert computing(database, *asked) == asked[:2]
        end(connection, asked[0])
        settle(connection)
        assert [status(database, each) for each in asked] == [
            "SUCCESSFUL",
            "PENDING",
            "SUCCESSFUL",
            "PENDING",
        ]
        end(connection, asked[1])
        settle(connection)
    assert [reused(database, each) for each in asked[2:]] == [(asked[0], 1), (asked[1], 1)]


def _collision(connection: Connection) -> list[int]:
    """Two items whose whole keys have the same hash."""
    [(found,)] = connection.execute(
        "with k as (select i, jsonb_hash(jsonb_build_array('ndvi', '7', '', jsonb_build_array(jsonb_build_array(i)), null)) as h"
        " from generate_series(1, 400000) as i)"
        " select array_agg(i order by i) from k group by h having count(*) = 2 limit 1"
    ).fetchall()
    return list(found)


@pytest.mark.parametrize(("shared", "leaders"), [(False, 3), (True, 1)])
def test_lanes_share_results_only_where_the_configuration_says_so(
    database: Database, shared: bool, leaders: int
) -> None:
    with database.connect() as connection:
        announce(connection, shared=shared)
        asked = [ask(connection, lane=lane) for lane in ("a", "b", None, "a")]
        settle(connection)
        assert len(computing(database, *asked)) == leaders


def test_a_lane_that_is_found_in_the_parameters_counts(database: Database) -> None:
    with database.connect() as connection:
        announce(connection)
        connection.execute(
            "select switchyard.announce_flows(%s)",
            [
                '[{"flow": "noop", "action_name": "noop", "lane_path": "$.customer", "in_flight": 9, "weights": {}}]'
            ],
        )
        asked = [ask(connection, parameters={"item": 1, "customer": each}) for each in ("a", "b", "a")]
        settle(connection)
        assert computing(database, *asked) == asked[:2]


def test_another_version_is_computed_again(database: Database) -> None:
    with database.connect() as connection:
        announce(connection)
        first = ask(connection)
        settle(connection)
        end(connection, first)
        settle(connection)
        announce(connection, version="8")
        second = ask(connection)
        settle(connection)
        assert computing(database, second) == [second]
        announce(connection, version="7")
        third = ask(connection)
        settle(connection)
    assert reused(database, third) == (first, 1)


def test_a_result_is_reused_as_long_as_the_submission_accepts_its_age(database: Database) -> None:
    with database.connect() as connection:
        announce(connection)
        first = ask(connection)
        settle(connection)
        end(connection, first)
        settle(connection)
        database.execute(
            "update switchyard.thread set ended_at = now() - interval '2 hours' where action_uuid = %s", first
        )
        announce(connection, fresh=3600)
        second, third = ask(connection), ask(connection)
        settle(connection)
        assert computing(database, second, third) == [second]
        assert roles(database) == {second: "leads", third: "follows"}
        end(connection, second)
        settle(connection)
    assert reused(database, third) == (second, 1)


def test_no_cache_neither_takes_nor_gives(database: Database) -> None:
    with database.connect() as connection:
        announce(connection)
        first, second = ask(connection, no_cache=True), ask(connection)
        settle(connection)
        assert computing(database, first, second) == [first, second]
        assert roles(database) == {second: "leads"}
        [(place,)] = connection.execute(
            "select action_uuid from switchyard.submit_many(%s)",
            ['[{"workflow": "ndvi", "parameters": {"item": 1}, "no_cache": true}]'],
        ).fetchall()
        assert computing(database, place) == [place]


def test_a_workflow_without_reuse_and_one_without_a_workflow_are_not_held(database: Database) -> None:
    with database.connect() as connection:
        connection.execute("insert into switchyard.route (workflow, action_name) values ('plain', 'noop')")
        asked = [ask(connection, workflow="plain"), submit(connection)]
        assert computing(database, *asked) == asked
    assert roles(database) == {}


def test_many_in_one_statement(database: Database) -> None:
    """Some of them without a key, and some of another workflow."""
    with database.connect() as connection:
        announce(connection)
        connection.execute("insert into switchyard.route (workflow, action_name) values ('plain', 'noop')")
        rows = connection.execute(
            "insert into switchyard.action (action_name, action_type, workflow, parameters, no_cache)"
            " select 'noop', 'workflow', case when i % 4 = 0 then 'plain' else 'ndvi' end,"
            "   case when i % 4 = 1 then '{}' else jsonb_build_object('item', i % 3) end, i % 4 = 3"
            " from generate_series(1, 1200) as i returning action_uuid"
        ).fetchall()
        asked = [uuid for (uuid,) in rows]
        assert len(computing(database, *asked)) == 900
        settle(connection)
        assert len(computing(database, *asked)) == 903
    assert database.execute("select role, count(*) from switchyard.reuse group by 1 order by 1") == [
        ("follows", 297),
        ("leads", 3),
    ]


def test_it_looks_when_its_time_has_come(database: Database) -> None:
    with database.connect() as connection:
        announce(connection)
        later = ask(connection, start="2100-01-01Z")
        first = ask(connection)
        settle(connection)
        assert computing(database, later, first) == [first]
        end(connection, first)
        settle(connection)
        assert held(database, later)
        [(why,)] = connection.execute("select switchyard.why(%s)", [later]).fetchall()
        assert (
            why
            == "It starts, or gets the result of the same computation, at 2100-01-01 00:00:00 UTC; no conductor serves the action name noop now."
        )
        connection.execute("update switchyard.reuse set not_before = now() where action_uuid = %s", [later])
        settle(connection)
    assert reused(database, later) == (first, 1)


def test_one_that_waits_for_others_looks_after_its_release(database: Database) -> None:
    with database.connect() as connection:
        announce(connection)
        before = submit(connection)
        waiter = ask(connection, after=[before])
        first = ask(connection)
        settle(connection)
        end(connection, first)
        settle(connection)
        assert status(database, waiter) == "PENDING"
        assert waiter not in roles(database)
        end(connection, before)
        settle(connection)
    assert reused(database, waiter) == (first, 1)


def test_why_names_the_action_that_computes(database: Database) -> None:
    with database.connect() as connection:
        announce(connection)
        first, second = ask(connection), ask(connection)
        settle(connection)
        [(why,)] = connection.execute("select switchyard.why(%s)", [second]).fetchall()
    assert why.startswith(f"It waits for the same computation: {first} of noop (PENDING)")
