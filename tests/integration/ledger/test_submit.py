"""Submitting from Python: one, many, with keys, in the caller's transaction, refused by field."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from switchyard.config import Config
from switchyard.errors import BadInput
from switchyard.ledger.connect import connect
from switchyard.process.otel import span_id, trace_id
from switchyard.submit import Submission, submit, submit_async, submit_many
from tests.integration.ledger.ledger import Ledger
from tests.parts.spans import kept_spans

pytestmark = pytest.mark.database


def count(ledger: Ledger) -> int:
    [(found,)] = ledger.connection.execute("select count(*) from switchyard.action").fetchall()
    assert isinstance(found, int)
    return found


def test_everything_submitted_is_stored(ledger: Ledger) -> None:
    parent = ledger.submit()
    start = datetime(2099, 1, 1, tzinfo=UTC)
    callbacks = [{"name": "done", "action": "hook", "when": ["SUCCESSFUL"]}]
    asked = Submission(
        "hook", {"a": [1, "ü", None]}, "w", 7, "c-1", "key", start, parent, callbacks, "acme", ["a", "b,c"]
    )
    uuid = submit(ledger.connection, asked)
    assert submit(ledger.connection, asked) == uuid
    row = ledger.connection.execute(
        "select action_type, action_name, parameters, workflow, priority, correlation_id, idempotency_key, start_after, "
        "parent_uuid, callbacks, lane, tags, submitted_by from switchyard.action where action_uuid = %s",
        [uuid],
    ).fetchall()
    assert row == [
        ("workflow", "hook", {"a": [1, "ü", None]}, "w", 7, "c-1", "key", start, parent, callbacks,
         "acme", ["a", "b,c"], "postgres"),
    ]  # fmt: skip


@pytest.mark.parametrize("keyed", [False, True])
def test_lane_and_tags_are_stored_by_a_bulk_submit(ledger: Ledger, keyed: bool) -> None:
    asked = [
        Submission("hook", lane="acme", tags=["x", 'quote"d'], idempotency_key="1" if keyed else None),
        Submission("hook", idempotency_key="2" if keyed else None),
    ]
    submit_many(ledger.connection, asked)
    rows = ledger.connection.execute(
        "select lane, tags, submitted_by from switchyard.action order by action_uuid"
    ).fetchall()
    assert rows == [("acme", ["x", 'quote"d'], "postgres"), (None, None, "postgres")]


def test_a_key_reused_for_another_lane_is_refused_and_other_tags_are_not(ledger: Ledger) -> None:
    first = Submission("hook", idempotency_key="k", lane="acme", tags=["a"])
    uuid = submit(ledger.connection, first)
    assert submit(ledger.connection, replace(first, tags=["b"])) == uuid
    with pytest.raises(psycopg.Error, match="asked for something else"):
        submit(ledger.connection, replace(first, lane="other"))


def test_what_rolls_back_was_never_there(ledger: Ledger) -> None:
    with ledger.database.connect(autocommit=False) as connection:
        submit(connection, Submission("hook", idempotency_key="k"))
        submit_many(connection, [Submission("hook") for _ in range(3)])
        connection.rollback()
    assert count(ledger) == 0
    assert ledger.connection.execute("select count(*) from switchyard.idempotency").fetchall() == [(0,)]


@pytest.mark.parametrize("keyed", [False, True])
def test_many_come_back_in_their_order_and_their_age(ledger: Ledger, keyed: bool) -> None:
    start = datetime.now(UTC) + timedelta(hours=1)
    asked = [
        Submission(
            "hook", {"n": n}, priority=n % 5, idempotency_key=f"k{n}" if keyed else None, start_after=start
        )
        for n in range(1, 12_001)
    ]
    uuids = submit_many(ledger.connection, asked)
    found: dict[Any, int] = dict(
        ledger.connection.execute(
            "select action_uuid, (parameters ->> 'n')::int from switchyard.action"
        ).fetchall()
    )
    assert [found[uuid] for uuid in uuids] == list(range(1, 12_001))
    assert len(found) == 12_000
    assert ledger.connection.execute(
        "select count(*) from switchyard.yard where due is not null"
    ).fetchall() == [(12_000,)]
    if keyed:
        assert submit_many(ledger.connection, asked) == uuids
    else:
        assert uuids == sorted(uuids)


def test_one_that_is_refused_takes_the_others_with_it(ledger: Ledger) -> None:
    submit(ledger.connection, Submission("hook", {"a": 1}, idempotency_key="k"))
    with pytest.raises(Exception, match="which asked for something else"):
        submit_many(
            ledger.connection, [Submission("hook"), Submission("hook", {"a": 2}, idempotency_key="k")]
        )
    assert count(ledger) == 1


def test_a_text_that_only_spells_an_escape_is_stored(ledger: Ledger) -> None:
    uuid = submit(ledger.connection, Submission("hook", {"a": "\\u0000 \\\\ud800"}))
    [(kept,)] = ledger.connection.execute(
        "select parameters ->> 'a' from switchyard.action where action_uuid = %s", [uuid]
    )
    assert kept == "\\u0000 \\\\ud800"


async def test_the_same_on_an_asynchronous_connection(ledger: Ledger) -> None:
    connection = await connect(ledger.database.url, application_name="test")
    async with connection:
        uuid = await submit_async(connection, Submission("hook"))
    assert ledger.state(uuid) == ("PENDING", 1, 0)


BAD: list[tuple[dict[str, Any], str]] = [
    ({}, "action_name"),
    ({"action_name": "hook", "priority": 99_999}, "priority"),
    ({"action_name": "hook", "start_after": datetime(2030, 1, 1)}, "start_after"),  # noqa: DTZ001
    ({"action_name": "hook", "correlation_id": "a\x00b"}, "correlation_id"),
    ({"action_name": "hook", "idempotency_key": ""}, "idempotency_key"),
    ({"action_name": "hook", "lane": ""}, "lane"),
    ({"action_name": "hook", "lane": "x" * 201}, "lane"),
    ({"action_name": "hook", "lane": "a\x00b"}, "lane"),
    ({"action_name": "hook", "lane": 7}, "lane"),
    ({"action_name": "hook", "tags": "red"}, "tags"),
    ({"action_name": "hook", "tags": ["a"] * 33}, "tags"),
    ({"action_name": "hook", "tags": ["a", ""]}, "tags"),
    ({"action_name": "hook", "tags": ["a", None]}, "tags"),
    ({"action_name": "hook", "parameters": {"a": "\x00"}}, "parameters"),
    ({"action_name": "hook", "parameters": {"a": "\ud800"}}, "parameters"),
    ({"action_name": "hook", "parameters": {"a": float("nan")}}, "parameters"),
    ({"action_name": "hook", "parameters": {"a": "x" * 1_100_000}}, "parameters"),
    ({"action_name": "hook", "parameters": {"a": object()}}, "parameters"),
]


@pytest.mark.parametrize(("given", "names"), BAD)
def test_bad_input_is_refused_by_field_and_leaves_nothing(
    ledger: Ledger, given: dict[str, Any], names: str
) -> None:
    with pytest.raises(BadInput, match=f"^{names}"):
        submit(ledger.connection, Submission(**given))
    assert count(ledger) == 0


def test_what_the_configuration_does_not_serve_is_refused(ledger: Ledger) -> None:
    config = Config.model_validate({"actions": {"noop": {"type": "noop"}}})
    for wrong in (Submission("nop"), Submission(workflow="none")):
        with pytest.raises(BadInput, match="there is no"):
            submit(ledger.connection, wrong, config)
        with pytest.raises(BadInput, match="there is no"):
            submit_many(ledger.connection, [Submission("noop"), wrong], config)
    assert count(ledger) == 0


async def test_the_configuration_knows_which_action_runs_a_workflow(ledger: Ledger) -> None:
    """No conductor has to have announced it."""
    config = Config.model_validate(
        {"actions": {"noop": {"type": "noop"}}, "workflows": {"sums": {"action": "noop"}}}
    )
    wanted = Submission(workflow="sums")
    with pytest.raises(psycopg.Error, match="no conductor has announced"):
        submit(ledger.connection, wanted)
    submit(ledger.connection, wanted, config)
    submit_many(ledger.connection, [wanted, Submission("noop")], config)
    async with await psycopg.AsyncConnection.connect(ledger.database.url, autocommit=True) as connection:
        await submit_async(connection, wanted, config)
    rows = ledger.connection.execute("select action_name, workflow from switchyard.action").fetchall()
    assert sorted(rows, key=str) == [("noop", "sums")] * 3 + [("noop", None)]


def test_many_are_routed_as_one_is(ledger: Ledger) -> None:
    with pytest.raises(BadInput, match="no conductor has announced a workflow sums"):
        submit_many(ledger.connection, [Submission("hook"), Submission(workflow="sums")])
    ledger.connection.execute("insert into switchyard.route (workflow, action_name) values ('sums', 'noop')")
    with pytest.raises(BadInput, match="workflow sums is run by noop, not by hook"):
        submit_many(ledger.connection, [Submission("hook", workflow="sums")])
    submit_many(ledger.connection, [Submission(workflow="sums")])
    assert ledger.connection.execute("select action_name from switchyard.action").fetchall() == [("noop",)]


async def test_each_way_of_submitting_writes_the_root_of_the_trace(ledger: Ledger) -> None:
    parent = ledger.submit()
    with kept_spans() as spans:
        one = submit(ledger.connection, Submission("hook", correlation_id="c-1", parent_uuid=parent))
        async with await connect(ledger.database.url, application_name="test") as connection:
            second = await submit_async(connection, Submission("hook", correlation_id="c-1"))
        plain = [Submission("hook", correlation_id="c-1") for _ in range(2)]
        keyed = [Submission("hook", correlation_id="c-1", idempotency_key="k")]
        many = [*submit_many(ledger.connection, plain), *submit_many(ledger.connection, keyed)]
    assert [span.name for span in spans] == ["submit"] * 5
    assert [span.context.span_id for span in spans] == [span_id(uuid) for uuid in (one, second, *many)]
    assert {span.context.trace_id for span in spans} == {trace_id(one, "c-1")}
    assert [span.parent and span.parent.span_id for span in spans] == [span_id(parent), *[None] * 4]


def test_a_key_used_again_with_another_start_is_refused(ledger: Ledger) -> None:
    ledger.submit(idempotency_key="k", start_after="2031-01-01Z")
    assert ledger.submit(idempotency_key="k", start_after="2031-01-01Z")
    with pytest.raises(psycopg.errors.UniqueViolation, match="asked for something else"):
        ledger.submit(idempotency_key="k", start_after="2032-01-01Z")


@pytest.mark.parametrize("rows", [1, 3])
def test_security_m1_a_workflow_under_another_action_name_is_refused(ledger: Ledger, rows: int) -> None:
    """Its callbacks were made although it never ran."""
    ledger.connection.execute("insert into switchyard.route values ('pay', 'shell')")
    with pytest.raises(
        psycopg.errors.InvalidParameterValue, match="workflow pay is run by shell, not by noop"
    ):
        ledger.submit("noop", workflow="pay")
    insert = """insert into switchyard.action (action_type, workflow, action_name)
      select 'workflow', 'pay', case n when 1 then 'noop' else 'shell' end from generate_series(1, %s) as n"""
    with pytest.raises(psycopg.errors.CheckViolation, match="workflow pay is run by shell, not by noop"):
        ledger.connection.execute(insert, [rows])
    assert ledger.connection.execute("select count(*) from switchyard.thread").fetchall() == [(0,)]


def test_one_statement_with_actions_of_every_kind_treats_each_as_if_it_were_alone(ledger: Ledger) -> None:
    """One of several rows of a name has a key, a workflow, somebody to wait for, or a set that it belongs to."""
    first = ledger.submit()
    insert = (
        "insert into switchyard.action (action_name, action_type, workflow, idempotency_key, after, member_of)"
        " values ('noop', 'callback', null, null, null, null),"
        " ('noop', %(type)s, %(workflow)s, %(key)s, %(after)s, %(set)s)"
    )
    plain: dict[str, object] = {"type": "callback", "workflow": None, "key": None, "after": None, "set": None}
    ledger.connection.execute("insert into switchyard.route (workflow, action_name) values ('flow', 'other')")
    ledger.connection.execute(insert, {**plain, "key": "k"})
    with pytest.raises(psycopg.errors.UniqueViolation, match="idempotency_key: k is already used"):
        ledger.connection.execute(insert, {**plain, "key": "k"})
    with pytest.raises(psycopg.errors.CheckViolation, match="workflow flow is run by other"):
        ledger.connection.execute(insert, {**plain, "type": "workflow", "workflow": "flow"})
    with pytest.raises(psycopg.errors.ForeignKeyViolation, match="there is no set"):
        ledger.connection.execute(insert, {**plain, "set": first})
    ledger.connection.execute(insert, {**plain, "after": [first]})
    assert ledger.connection.execute("select after from switchyard.waiting").fetchall() == [([first],)]
