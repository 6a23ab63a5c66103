"""Each role can do just what it needs."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest

from tests.integration.ledger.ledger import Connection, Ledger

pytestmark = pytest.mark.database

ADMINISTRATION = Path(__file__).parents[3] / "docs" / "administration.md"
LOCK_FUNCTIONS = """
    select p.proname, case p.pronargs when 1 then '1' else '1, 1' end from pg_proc p
    where p.proname like 'pg%%advisory%%lock%%' and p.proname not like '%%unlock%%'
"""

MAY: dict[str, list[LiteralString]] = {
    "switchyard_reader": ["select * from switchyard.thread", "select * from switchyard.inbox", "select * from switchyard.unserved", "select * from switchyard.verify()"],
    "switchyard_submitter": [
        "select switchyard.submit('x', idempotency_key => 'a')",
        "select * from switchyard.submit_many('[{\"action_name\": \"x\"}]')",
        "insert into switchyard.action (action_name, lane, tags) values ('x', 'acme', '{a}')",
    ],
    "switchyard_worker": [
        "select * from switchyard.claim('x', 1)",
        "select switchyard.submit('x')",
        "insert into switchyard.event (action_uuid, status) select action_uuid, 'INFO' from switchyard.thread limit 1",
        "insert into switchyard.worker (kind, host) values ('conductor', 'h')",
        "select * from switchyard.mark_lost('{}', '{}')",
        "select * from switchyard.take_tokens('x', 1, 1, 1)",
        "select count(*) from switchyard.ensure_partitions(20)",
        "select switchyard.pause('x', 'w', 'too many lost')",
        "insert into switchyard.route values ('v', 'x')",
        "insert into switchyard.journal (kind, subject) values ('notice', 'x')",
    ],
    "switchyard_client": [
        "select switchyard.execute('w', '{}')",
        "select * from switchyard.job",
        "select * from switchyard.job_event",
        "select * from switchyard.family(switchyard.uuid_floor(now()))",
        "select * from switchyard.use_token('')",
        "select switchyard.execute_job('w','{}',null,null,null,null,null,100,null,null,null)",
    ],
    "switchyard_operator": [
        "select * from switchyard.job",
        "select switchyard.execute('w', '{}')",
        "select switchyard.cancel(action_uuid, 'a', 'b') from switchyard.thread limit 1",
        "select switchyard.pause('x', 'a', 'b')",
        "select switchyard.resume('x', 'a', 'b')",
    ],
    "switchyard_admin": [
        "select switchyard.cancel(action_uuid, 'a', 'b') from switchyard.thread limit 1",
        "select switchyard.resume('x', 'a', 'b')",
        "select * from switchyard.drop_partitions('2001-01-01')",
    ],
}  # fmt: skip
MAY_NOT: dict[str, list[LiteralString]] = {
    "switchyard_reader": [
        "select switchyard.submit('x')",
        "insert into switchyard.action (action_name) values ('x')",
        "insert into switchyard.event (action_uuid, status) values (switchyard.uuid7(), 'INFO')",
        "select * from switchyard.claim('x', 1)",
        "select switchyard.pause('x', 'a', 'b')",
    ],
    "switchyard_submitter": [
        "select * from switchyard.action",
        "select * from switchyard.thread",
        "insert into switchyard.event (action_uuid, status) values (switchyard.uuid7(), 'INFO')",
        "select switchyard.cancel(switchyard.uuid7(), 'a', 'b')",
        "insert into switchyard.action (action_name, submitted_by) values ('x', 'ann')",
    ],
    "switchyard_worker": [
        "update switchyard.thread set status = 'FAILED'",
        "delete from switchyard.event",
        "update switchyard.event set ignored = true",
        "delete from switchyard.yard",
        "select switchyard.retrigger(switchyard.uuid7(), 'a', 'b')",
        "select switchyard.resume('x', 'a', 'b')",
        # security L1: a worker reported in the name of an administrator
        "insert into switchyard.event (action_uuid, status, recorded_by) select action_uuid, 'INFO', 'ann' from switchyard.thread",
        "insert into switchyard.journal (kind, subject, recorded_by) values ('pause', 'x', 'ann')",
    ],
    "switchyard_client": [
        "select * from switchyard.action",
        "select * from switchyard.thread",
        "select * from switchyard.event",
        "select * from switchyard.token",
        "select switchyard.submit('x')",
        "select switchyard.cancel(switchyard.uuid_floor(now()), 'a', 'b')",
        "select switchyard.pause('x', 'a', 'b')",
    ],
    "switchyard_operator": [
        "select * from switchyard.token",
        "select * from switchyard.drop_partitions('2001-01-01')",
        "select switchyard.add_token('x', sha256('x'), 'admin', null, 'me')",
        "update switchyard.thread set status = 'FAILED'",
    ],
    "switchyard_admin": [
        "update switchyard.thread set status = 'FAILED'",
        "delete from switchyard.action",
        "drop table switchyard.paused",
    ],
}


@contextmanager
def acting_as(ledger: Ledger, role: str) -> Iterator[Connection]:
    with ledger.database.connect() as connection:
        connection.execute(f"set role {role}".encode())
        yield connection


@pytest.mark.parametrize("role", MAY)
def test_it_may_and_may_not(ledger: Ledger, role: str) -> None:
    ledger.submit("x")
    ledger.connection.execute("insert into switchyard.route values ('w', 'x') on conflict do nothing")
    with acting_as(ledger, role) as connection:
        for statement in MAY[role]:
            connection.execute(statement)
        for statement in MAY_NOT[role]:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)


def test_security_l1_every_step_is_recorded_with_who_was_logged_in(ledger: Ledger) -> None:
    uuid = ledger.submit("x")
    with acting_as(ledger, "switchyard_admin") as connection:
        connection.execute("select switchyard.cancel(%s, 'somebody else', 'y')", [uuid])
        connection.execute("select switchyard.pause('x', 'somebody else', 'y')")
    for table in ("event", "journal"):
        recorded = ledger.connection.execute(
            f"select recorded_by from switchyard.{table}".encode()
        ).fetchall()
        assert recorded == [("postgres",)]


def test_a_client_sees_only_what_was_submitted_in_its_name(ledger: Ledger) -> None:
    ledger.connection.execute("insert into switchyard.route values ('w', 'x')")
    with acting_as(ledger, "switchyard_client") as connection:
        for name in ("token:ann", "token:bob"):
            connection.execute("select set_config('switchyard.caller', %s, false)", [name])
            ((job,),) = connection.execute("select switchyard.execute('w', '{}')").fetchall()
            assert connection.execute("select job_id, submitted_by from switchyard.job").fetchall() == [
                (job, name)
            ]
            assert [row[0] for row in connection.execute("select * from switchyard.family(%s)", [job])] == [
                job
            ]
        ((ann,),) = ledger.connection.execute(
            "select action_uuid from switchyard.action where submitted_by = 'token:ann'"
        ).fetchall()
        assert connection.execute("select * from switchyard.family(%s)", [ann]).fetchall() == []
        assert (
            connection.execute("select * from switchyard.job_event where action_uuid = %s", [ann]).fetchall()
            == []
        )
        with pytest.raises(psycopg.errors.NoDataFound):
            connection.execute("select switchyard.dismiss_job(%s, 'not mine')", [ann])


def test_security_l3_a_guessed_key_reveals_the_id_alone(ledger: Ledger) -> None:
    """ADR 0174."""
    submit = "select switchyard.submit('hook', %s::jsonb, idempotency_key => 'order-17')"
    [(uuid,)] = ledger.connection.execute(submit, ['{"secret": 1}']).fetchall()
    with acting_as(ledger, "switchyard_submitter") as connection:
        assert connection.execute(submit, ['{"secret": 1}']).fetchall() == [(uuid,)]
        with pytest.raises(psycopg.Error, match="asked for something else"):
            connection.execute(submit, ["{}"])
        for table in ("action", "thread", "event", "idempotency"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"select * from switchyard.{table}".encode())


def test_security_m4_the_statements_of_the_page_leave_advisory_locks_to_the_workers(ledger: Ledger) -> None:
    [block] = re.findall(r"```sql\n(do \$\$.*?advisory.*?)```", ADMINISTRATION.read_text(), re.DOTALL)
    ledger.connection.execute(block.encode())
    functions = ledger.connection.execute(LOCK_FUNCTIONS).fetchall()
    assert len(functions) == 16
    with acting_as(ledger, "switchyard_reader") as stranger:
        for function, arguments in functions:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                stranger.execute(f"select {function}({arguments})".encode())
    test_it_may_and_may_not(ledger, "switchyard_submitter")
    test_it_may_and_may_not(ledger, "switchyard_worker")
