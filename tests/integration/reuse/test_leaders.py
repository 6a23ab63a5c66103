"""What becomes of those that wait when the one that computes ends in another way, is dropped or is forgotten."""

from uuid import UUID

import psycopg
import pytest

from tests.integration.reuse.rules import announce, ask, computing, reused, roles, settle
from tests.integration.sets.graphs import Ids, submit_graph
from tests.integration.waiting.joins import Connection, end, held, settlers, status, submit
from tests.parts.database import Database

pytestmark = pytest.mark.database


def three(connection: Connection) -> list[UUID]:
    """One that computes, and two that wait for it."""
    announce(connection)
    asked = [ask(connection) for _ in range(3)]
    settle(connection)
    return asked


@pytest.mark.parametrize("how", ["FAILED", "TIMED_OUT", "INVALID", "CANCELED", "RETRIES_EXHAUSTED"])
def test_the_oldest_that_waits_computes_next(database: Database, how: str) -> None:
    with database.connect() as connection:
        asked = three(connection)
        end(connection, asked[0], status=how)
        settle(connection)
        assert computing(database, *asked) == [asked[1]]
        assert roles(database) == {asked[1]: "leads", asked[2]: "follows"}
        end(connection, asked[1])
        settle(connection)
    assert [status(database, each) for each in asked] == [how, "SUCCESSFUL", "SUCCESSFUL"]
    assert reused(database, asked[2]) == (asked[1], 1)


def test_a_retry_of_the_workflow_keeps_the_lead(database: Database) -> None:
    with database.connect() as connection:
        asked = three(connection)
        connection.execute(
            "insert into switchyard.event (action_uuid, status, run, attempt, retry_seconds) values (%s, 'BACKOFF', 2, 0, 0)",
            [asked[0]],
        )
        settle(connection)
        assert roles(database)[asked[0]] == "leads"
        end(connection, asked[0])
        settle(connection)
    assert [reused(database, each) for each in asked[1:]] == [(asked[0], 2)] * 2


def test_a_retriggered_leader_follows_the_one_that_took_over(database: Database) -> None:
    with database.connect() as connection:
        asked = three(connection)
        end(connection, asked[0], status="FAILED")
        settle(connection)
        retrigger(connection, asked[0])
        assert held(database, asked[0])
        settle(connection)
        assert roles(database) == {asked[0]: "follows", asked[1]: "leads", asked[2]: "follows"}
        end(connection, asked[1])
        settle(connection)
        assert [reused(database, each) for each in asked] == [(asked[1], 1), None, (asked[1], 1)]


def test_a_leader_retriggered_before_it_was_settled(database: Database) -> None:
    with database.connect() as connection:
        asked = three(connection)
        end(connection, asked[0], status="FAILED")
        retrigger(connection, asked[0])
        assert set(roles(database).values()) == {"seeks"}
        settle(connection)
        assert len(computing(database, *asked)) == 1
        end(connection, *computing(database, *asked))
        settle(connection)
    assert [status(database, each) for each in asked] == ["SUCCESSFUL"] * 3


def test_a_retrigger_after_the_version_has_changed_leaves_no_action_waiting(database: Database) -> None:
    with database.connect() as connection:
        asked = three(connection)
        end(connection, asked[0], status="FAILED")
        announce(connection, version="8")
        retrigger(connection, asked[0])
        settle(connection)
        assert computing(database, *asked) == asked[:2]
        connection.execute("update switchyard.route set reuse = null")
        end(connection, asked[0], status="FAILED")
        retrigger(connection, asked[0])
        settle(connection)
        assert computing(database, asked[0]) == [asked[0]]
        assert asked[0] not in roles(database)


def retrigger(connection: Connection, uuid: UUID) -> None:
    connection.execute(
        "update switchyard.thread set callbacks_due = false where action_uuid = %s", [uuid]
    )  # as caboose does
    connection.execute("select switchyard.retrigger(%s, 'ann', 'again')", [uuid])


def test_one_that_waits_is_canceled(database: Database) -> None:
    with database.connect() as connection:
        asked = three(connection)
        connection.execute("select switchyard.cancel(%s, 'ann', 'enough')", [asked[1]])
        end(connection, asked[0], status="FAILED")
        settle(connection)
        assert computing(database, *asked) == [asked[2]]
        retrigger(connection, asked[1])
        settle(connection)
        assert roles(database) == {asked[2]: "leads", asked[1]: "follows"}


def test_all_of_a_key_are_canceled(database: Database) -> None:
    with database.connect() as connection:
        asked = three(connection)
        for each in asked:
            connection.execute("select switchyard.cancel(%s, 'ann', 'enough')", [each])
        settle(connection)
    assert roles(database) == {}


def test_more_than_a_step_holds(database: Database) -> None:
    with database.connect() as connection:
        announce(connection)
        connection.execute(
            "insert into switchyard.action (action_name, action_type, workflow, parameters)"
            " select 'noop', 'workflow', 'ndvi', '{\"item\": 1}' from generate_series(1, 1201)"
        )
        settle(connection)
        [(leader,)] = database.execute("select action_uuid from switchyard.reuse where role = 'leads'")
        end(connection, leader)
        settle(connection)
    assert database.execute("select status::text, count(*) from switchyard.thread group by 1") == [
        ("SUCCESSFUL", 1201)
    ]
    assert roles(database) == {leader: "result"}


def past(connection: Connection) -> None:
    """A stretch of time that retention may drop."""
    connection.execute(
        "select switchyard.attach_partition(parent, '2020', '2020-01-01Z', '2021-01-01Z')"
        " from unnest(array['action', 'thread', 'event']) as parent"
    )
    connection.execute("insert into switchyard.partition_span values ('2020-01-01Z', '2021-01-01Z', '2020')")


@pytest.mark.parametrize("ended", [True, False])
def test_retention_forgets_what_it_drops(database: Database, ended: bool) -> None:
    """The leader's partition goes: after its success, or after a failure that nobody has looked at yet."""
    with database.connect() as connection:
        announce(connection)
        past(connection)
        [(old,)] = connection.execute(
            "insert into switchyard.action (action_uuid, action_name, action_type, workflow, parameters)"
            " values (switchyard.uuid7('2020-06-01Z'), 'noop', 'workflow', 'ndvi', '{\"item\": 1}') returning action_uuid"
        ).fetchall()
        settle(connection)
        waits = ask(connection)
        if ended:
            end(connection, old)
            settle(connection)
            assert reused(database, waits) == (old, 1)
        else:
            settle(connection)
            end(connection, old, status="FAILED")
        connection.execute("update switchyard.thread set callbacks_due = false")
        [(_, dropped, reason)] = connection.execute(
            "select * from switchyard.drop_partitions('2021-06-01Z')"
        ).fetchall()
        assert dropped, reason
        assert old not in roles(database)
        later = ask(connection)
        settle(connection)
        assert computing(database, waits, later) == [later if ended else waits]
        assert reused(database, waits) == ((old, 1) if ended else None)


def test_forgotten_by_workflow_version_action_or_time(database: Database) -> None:
    with database.connect() as connection:
        asked = three(connection)
        end(connection, asked[0])
        settle(connection)
        assert forget(connection, workflow="other") == 0
        assert forget(connection, version="6") == 0
        assert forget(connection, before="2020-01-01Z") == 0
        assert forget(connection, action_uuid=asked[1], dry_run=True) == 1  # the result that it was given
        assert roles(database) == {asked[0]: "result"}
        assert forget(connection, workflow="ndvi", version="7", before="2100-01-01Z") == 1
        with pytest.raises(psycopg.errors.InvalidParameterValue, match="give a workflow, a version"):
            forget(connection)
        later = ask(connection)
        settle(connection)
        assert computing(database, later) == [later]
    journal = database.execute(
        "select subject, actor, reason, detail ->> 'forgotten' from switchyard.journal where kind = 'forget_results' order by entry_id desc limit 1"
    )
    assert journal == [("ndvi", "ann", "wrong", "1")]


def test_what_is_being_computed_is_forgotten_too(database: Database) -> None:
    with database.connect() as connection:
        asked = three(connection)
        assert forget(connection, workflow="ndvi", before="2100-01-01Z") == 0  # it has not ended
        assert forget(connection, workflow="ndvi") == 1
        settle(connection)
        assert computing(database, *asked) == asked[:2]
        end(connection, asked[0])
        settle(connection)
        assert status(database, asked[2]) == "PENDING"
        end(connection, asked[1])
        settle(connection)
    assert reused(database, asked[2]) == (asked[1], 1)


def test_a_new_waiter_and_a_lost_leader_wake_the_settle_loop(database: Database) -> None:
    with database.connect() as connection, settlers(database) as woken:
        announce(connection)
        woken()
        ask(connection)
        assert woken() == {"maintenance", "joins"}
        ask(connection)
        settle(connection)
        woken()
        assert forget(connection, workflow="ndvi") == 1
        assert woken() == {"maintenance", "joins"}


def test_the_end_of_the_computing_action_wakes_the_settle_loop(database: Database) -> None:
    with database.connect() as connection, settlers(database) as woken:
        asked = three(connection)
        woken()
        end(connection, asked[0])
        assert woken() == {"joins"}


def forget(connection: Connection, **given: object) -> int:
    names = ("workflow", "version", "action_uuid", "before", "dry_run")
    values = {**dict.fromkeys(names), "dry_run": False, **given}
    [(number,)] = connection.execute(
        "select switchyard.forget_results('ann', 'wrong', workflow => %(workflow)s, version => %(version)s,"
        " action_uuid => %(action_uuid)s::uuid, before => %(before)s::timestamptz, dry_run => %(dry_run)s)",
        values,
    ).fetchall()
    return int(number)


def test_inputs_of_a_node_are_read_from_where_its_dependency_was_computed(database: Database) -> None:
    """And two nodes whose inputs come from one result are one computation."""
    with database.connect() as connection:
        announce(connection, "fetch", key=["$.scene"])
        announce(connection, "ndvi", key=["$.item"])
        ids = [_graph(connection, number) for number in range(2)]
        settle(connection)
        fetch = computing(database, *(each["fetch"] for each in ids))
        assert len(fetch) == 1
        end(connection, *fetch)
        settle(connection)
        nodes = [each["ndvi"] for each in ids]
        assert len(computing(database, *nodes)) == 1
        found = database.execute(
            "select distinct parameters #>> '{$inputs,item,from}', parameters #>> '{$inputs,item,run}' from switchyard.action where node = 'ndvi'"
        )
        assert found == [(str(fetch[0]), "1")]
        end(connection, *computing(database, *nodes))
        settle(connection)
    assert [status(database, each) for each in nodes] == ["SUCCESSFUL"] * 2


def _graph(connection: Connection, number: int) -> Ids:
    fetch = {"workflow": "fetch", "parameters": {"scene": 7, "who": number}}
    ndvi = {"workflow": "ndvi", "inputs": {"item": {"from": "fetch", "path": "$.output.scene"}}}
    return submit_graph(connection, {"nodes": {"fetch": fetch, "ndvi": ndvi}})


def test_one_that_is_waited_for_may_be_one_that_waits(database: Database) -> None:
    with database.connect() as connection:
        asked = three(connection)
        waiter = submit(connection, [asked[2]])
        settle(connection)
        end(connection, asked[0])
        settle(connection)
        settle(connection)
        assert computing(database, waiter) == [waiter]
