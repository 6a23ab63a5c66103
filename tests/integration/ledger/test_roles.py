"""Each role can do just what it needs."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import LiteralString

import psycopg
import pytest

from tests.integration.ledger.ledger import Connection, Ledger

pytestmark = pytest.mark.database

MAY: dict[str, list[LiteralString]] = {
    "switchyard_reader": ["select * from switchyard.thread", "select * from switchyard.inbox", "select * from switchyard.unserved", "select * from switchyard.verify()"],
    "switchyard_submitter": [
        "select switchyard.submit('x', idempotency_key => 'a')",
        "select * from switchyard.submit_many('[{\"action_name\": \"x\"}]')",
        "insert into switchyard.action (action_name) values ('x')",
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
        "insert into switchyard.route values ('w', 'x')",
        "insert into switchyard.journal (kind, subject) values ('notice', 'x')",
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
