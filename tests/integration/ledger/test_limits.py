"""What Postgres would store but programs could not read is refused by a constraint, and what is allowed stays readable."""

import json
from collections.abc import Callable
from typing import LiteralString

import psycopg
import pytest

from tests.integration.ledger.ledger import Ledger
from tests.parts.database import Database, Template

pytestmark = pytest.mark.database

UNREADABLE: dict[str, LiteralString] = {
    "hole_1_a_number_of_5000_digits": "'{\"a\": 1e5000}'::jsonb",
    "hole_1_a_negative_number_of_5000_digits": "'{\"a\": [-1e5000]}'::jsonb",
    "security_h1_depth": "('{\"a\": ' || repeat('[', 1500) || repeat(']', 1500) || '}')::jsonb",
    "security_h1_objects_nested_202_deep": "(repeat('{\"a\": ', 202) || '1' || repeat('}', 202))::jsonb",
    "security_h6_written_it_is_6_mib": "jsonb_build_object('a', repeat(chr(1), 1000000))",
}
READABLE: dict[str, Callable[[], object]] = {
    "deep": lambda: json.loads("[" * 199 + "]" * 199),
    "brackets_in_a_text": lambda: "[" * 5_000,
    "digits_in_a_text": lambda: "9" * 5_000,
    "a_long_number": lambda: 10**300,
    "a_small_number": lambda: 1e-300,
    "large": lambda: "x" * 1_000_000,
}


@pytest.mark.parametrize("case", UNREADABLE)
@pytest.mark.parametrize("column", ["parameters", "callbacks"])
def test_what_programs_cannot_read_is_refused(ledger: Ledger, case: str, column: str) -> None:
    document = UNREADABLE[case] if column == "parameters" else f"jsonb_build_array({UNREADABLE[case]})"
    names = f"{column}_is_within_limits"
    for statement in (
        f"insert into switchyard.action (action_name, {column}) values ('x', {document})",
        f"select switchyard.submit('x', {column} => {document})",
    ):
        with pytest.raises(psycopg.errors.CheckViolation, match=names):
            ledger.connection.execute(statement.encode())


@pytest.mark.parametrize("case", READABLE)
def test_what_programs_can_read_is_taken(ledger: Ledger, case: str) -> None:
    given = {"a": READABLE[case]()}
    uuid = ledger.submit(parameters=json.dumps(given))
    [(stored,)] = ledger.connection.execute(
        "select parameters from switchyard.action where action_uuid = %s", [uuid]
    ).fetchall()
    assert stored == given


def test_hole_33_a_packed_document_counts_as_large_as_it_is_written(ledger: Ledger) -> None:
    with ledger.connection.transaction():
        ledger.connection.execute("create temp table packed (p jsonb) on commit drop")
        ledger.connection.execute("insert into packed select jsonb_build_object('a', repeat('x', 60000000))")
        [(size,)] = ledger.connection.execute("select pg_column_size(p) from packed").fetchall()
        assert size < 1_048_576
        with (
            pytest.raises(psycopg.errors.CheckViolation, match="parameters_is_within_limits"),
            ledger.connection.transaction(),
        ):
            ledger.connection.execute(
                "insert into switchyard.action (action_name, parameters) select 'x', p from packed"
            )


@pytest.mark.parametrize(
    "when", ["infinity", "-infinity", "1969-12-31", "9999-06-01", "10000-01-01", "0001-01-01 BC"]
)
def test_hole_14_a_start_that_is_not_a_date_is_refused(ledger: Ledger, when: str) -> None:
    with pytest.raises(psycopg.errors.CheckViolation, match="start_after_is_a_date"):
        ledger.submit(start_after=when)


EVENTS: dict[str, tuple[LiteralString, LiteralString, str]] = {
    "hole_14_time_infinity": ("event_time", "'infinity'", "event_time_is_a_date"),
    "hole_14_time_in_the_last_year": ("event_time", "'9999-01-01'", "event_time_is_a_date"),
    "hole_26_attempt": ("attempt", "2147483647", "event_attempt_counts_from_0"),
    "hole_26_run": ("run", "2147483647", "event_run_counts_from_1"),
    "retry_seconds_not_a_number": ("retry_seconds", "'NaN'", "event_retry_seconds_is_a_delay"),
    "retry_seconds_infinite": ("retry_seconds", "'infinity'", "event_retry_seconds_is_a_delay"),
    "error": ("error", "repeat('x', 70000)", "event_error_is_at_most_64_kib"),
    "detail": ("detail", "jsonb_build_object('a', 1e5000)", "event_detail_is_within_limits"),
    "source": ("source", "repeat('x', 201)", "event_source_is_a_name"),
}


@pytest.mark.parametrize("case", EVENTS)
def test_an_event_that_no_program_could_read_is_refused(ledger: Ledger, case: str) -> None:
    column, value, names = EVENTS[case]
    uuid = ledger.submit()
    with pytest.raises(psycopg.errors.CheckViolation, match=names):
        ledger.connection.execute(
            f"insert into switchyard.event (action_uuid, status, {column}) values (%s, 'BACKOFF', {value})".encode(),
            [uuid],
        )
    assert ledger.state(uuid) == ("PENDING", 1, 0)


def test_a_submitter_may_insert_what_is_within_the_limits(template: Template) -> None:
    """A constraint calls its function as whoever inserts."""
    with template.clone() as database, database.connect() as connection:
        connection.execute("set role switchyard_submitter")
        connection.execute(
            "insert into switchyard.action (action_name, parameters) values ('x', '{\"a\": 1}')"
        )


def test_hole_35_a_transaction_of_many_names_leaves_room_in_the_lock_table(database: Database) -> None:
    held = "select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()"
    with database.connect(autocommit=False) as writer:
        writer.execute(
            "insert into switchyard.action (action_name) select 'name ' || n from generate_series(1, 3000) as n"
        )
        for turn in range(5):
            writer.execute("insert into switchyard.action (action_name) values (%s)", [f"more {turn}"])
        assert writer.execute(held).fetchall() == [(1000,)]
        writer.rollback()
        writer.execute("insert into switchyard.action (action_name) values ('x')")
        assert writer.execute(held).fetchall() == [(1,)]


def test_hole_35_names_past_the_limit_are_rung_for(database: Database) -> None:
    with database.connect() as sleeper, database.connect() as writer:
        sleeper.execute("select pg_advisory_lock(1937204078, switchyard.bell_key('name 1200'))")
        [(channel,)] = sleeper.execute("select switchyard.bell_channel('name 1200')").fetchall()
        sleeper.execute(f"listen {channel}".encode())
        writer.execute(
            "insert into switchyard.action (action_name) select 'name ' || n from generate_series(1, 1200) as n"
        )
        assert [bell.channel for bell in sleeper.notifies(timeout=60, stop_after=1)] == [channel]


def test_submissions_do_not_lengthen_the_list_of_queues(ledger: Ledger) -> None:
    ledger.submit("ours")
    ledger.connection.execute(
        "insert into switchyard.worker (kind, host, action_name) values ('conductor', 'h', 'ours')"
    )
    for _ in range(2):
        ledger.connection.execute(
            "insert into switchyard.action (action_name) select 'n' || g from generate_series(1, 700) as g"
        )
    shown = ledger.connection.execute("select action_name from switchyard.queue_shown").fetchall()
    assert len(shown) == 500
    assert ("ours",) in shown


def test_a_number_that_is_too_small_for_a_double_is_refused(ledger: Ledger) -> None:
    """A query over many rows that casts it would fail for all of them."""
    for number in ("1e-308", "-1e-400", "1e-16000"):
        with pytest.raises(psycopg.errors.CheckViolation, match="parameters_is_within_limits"):
            ledger.submit(parameters=f'{{"a": [{number}]}}')
    uuid = ledger.submit(parameters='{"a": 1e-307, "b": 0.0, "c": -0.000000000000000}')
    with pytest.raises(psycopg.errors.CheckViolation, match="event_detail_is_an_object"):
        ledger.connection.execute(
            "insert into switchyard.event (action_uuid, status, detail) values (%s, 'INFO', '[1]')", [uuid]
        )
