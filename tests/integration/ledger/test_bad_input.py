"""Bad input from SQL: a clear error that names the field, and nothing half written."""

from collections.abc import Iterator
from typing import LiteralString

import psycopg
import pytest

from tests.integration.ledger.ledger import Ledger
from tests.parts.database import Template

pytestmark = pytest.mark.database

REFUSED: list[tuple[LiteralString, str]] = [
    ("insert into switchyard.action (action_name) values (null)", "action_name"),
    ("insert into switchyard.action (action_name) values ('')", "action_name_is_a_name"),
    (
        "insert into switchyard.action (action_name, action_uuid) values ('x', gen_random_uuid())",
        "action_uuid",
    ),
    (
        "insert into switchyard.action (action_name, action_uuid) "
        "values ('x', overlay(switchyard.uuid7()::text placing '4' from 15)::uuid)",
        "action_uuid_is_version_7",
    ),
    (
        "insert into switchyard.action (action_name, action_uuid) values ('x', switchyard.uuid7('1999-01-01'))",
        "no partition",
    ),
    ("insert into switchyard.action (action_name, action_type) values ('x', 'job')", "action_type"),
    (
        "insert into switchyard.action (action_name, workflow) values ('x', 'w')",
        "action_type_matches_workflow",
    ),
    ("insert into switchyard.action (action_name, parameters) values ('x', '[]')", "parameters_is_an_object"),
    (
        "insert into switchyard.action (action_name, parameters) "
        "values ('x', jsonb_build_object('a', repeat('x', 1048576)))",
        "parameters_is_within_limits",
    ),
    ("insert into switchyard.action (action_name, parameters) values ('x', '{\"a\": \"\\u0000\"}')", "u0000"),
    ("insert into switchyard.action (action_name, lane) values ('x', '')", "lane_is_a_name"),
    ("insert into switchyard.action (action_name, lane) values ('x', repeat('x', 201))", "lane_is_a_name"),
    ("insert into switchyard.action (action_name, tags) values ('x', array[''])", "tags_are_short"),
    ("insert into switchyard.action (action_name, tags) values ('x', array[null])", "tags_are_short"),
    ("insert into switchyard.action (action_name, tags) values ('x', array[array['a']])", "tags_are_short"),
    (
        "insert into switchyard.action (action_name, tags) values ('x', array_fill('a'::text, array[33]))",
        "tags_are_short",
    ),
    (
        'select * from switchyard.submit_many(\'[{"action_name": "x", "tags": [1]}]\')',
        "must be a list of strings",
    ),
    ("insert into switchyard.action (action_name, callbacks) values ('x', '{}')", "callbacks_is_a_list"),
    ("insert into switchyard.event (action_uuid, status) values (switchyard.uuid7(), 'DONE')", "DONE"),
    (
        "insert into switchyard.event (action_uuid, status) values (switchyard.uuid7(), 'RUNNING')",
        "event.action_uuid",
    ),
    ("select switchyard.submit(null)", "action_name"),
    ("select switchyard.submit(null, workflow => 'nobody')", "no conductor has announced a workflow nobody"),
    ("select switchyard.submit('x', priority => 40000)", "priority"),
    ("select switchyard.submit('x', callbacks => '{}')", "callbacks_is_a_list"),
    ("select switchyard.submit('x', idempotency_key => '')", "idempotency_key"),
    ("select switchyard.retrigger(switchyard.uuid7(), 'ann', 'x')", "there is no action"),
    (
        "select switchyard.retrigger(switchyard.submit('noop', '{}'), 'ann', 'x', 'middle')",
        "resume_from: must be start or failed, not middle",
    ),
    ("select switchyard.cancel(switchyard.uuid7(), 'ann', 'x')", "there is no action"),
    ("select switchyard.pause('x', ' ', 'because')", "actor"),
    ("select switchyard.pause('x', 'ann', '')", "reason"),
    ("select switchyard.resume('x', 'ann', null)", "reason"),
    ("select count(*) from switchyard.ensure_partitions(-1)", "days_ahead"),
    ("select switchyard.drop_partitions(now() + interval '1 day')", "older_than"),
    ("select switchyard.drop_partition('1999')", "there is no partition 1999"),
]


@pytest.fixture(scope="module")
def untouched(template: Template) -> Iterator[Ledger]:
    """One ledger for all that is refused, because nothing of it may remain."""
    with template.clone() as database, database.connect() as connection:
        yield Ledger(database, connection)


@pytest.mark.parametrize(("statement", "names"), REFUSED)
def test_it_is_refused_by_name_and_leaves_nothing(
    ledger: Ledger, statement: LiteralString, names: str
) -> None:
    with pytest.raises(psycopg.Error, match=names):
        ledger.connection.execute(statement)
    left = ledger.connection.execute(
        "select (select count(*) from switchyard.action), (select count(*) from switchyard.thread), "
        "(select count(*) from switchyard.event), (select count(*) from switchyard.yard), "
        "(select count(*) from switchyard.idempotency)"
    ).fetchall()
    assert left == [(0, 0, 0, 0, 0)]


def test_one_bad_row_in_a_statement_takes_the_others_with_it(ledger: Ledger) -> None:
    uuid = ledger.submit()
    with pytest.raises(psycopg.errors.ForeignKeyViolation, match="there is no action"):
        ledger.connection.execute(
            "insert into switchyard.event (action_uuid, status) values (%s, 'RUNNING'), (switchyard.uuid7(), 'RUNNING')",
            [uuid],
        )
    assert ledger.state(uuid) == ("PENDING", 1, 0)


def test_a_name_that_is_not_the_workflows_is_refused(ledger: Ledger) -> None:
    ledger.connection.execute("insert into switchyard.route values ('nutrient', 'argo')")
    uuid = ledger.connection.execute("select switchyard.submit(workflow => 'nutrient')").fetchall()[0][0]
    assert ledger.thread(uuid)["action_name"] == "argo"
    with pytest.raises(psycopg.Error, match="workflow nutrient is run by argo, not by sqs"):
        ledger.submit("sqs", workflow="nutrient")
