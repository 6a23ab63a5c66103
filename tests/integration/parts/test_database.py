"""Each test has a migrated database of its own."""

import pytest

from tests.parts.database import Database, Template

pytestmark = pytest.mark.database


def test_the_ledger_is_there_and_empty(database: Database) -> None:
    assert database.execute("select count(*) from switchyard.action") == [(0,)]


@pytest.mark.parametrize("turn", [1, 2])
def test_nothing_is_left_by_the_test_before(database: Database, turn: int) -> None:
    database.execute("create table trace ()")


def test_a_copy_is_dropped_even_while_a_client_is_connected(template: Template) -> None:
    with template.clone() as copy:
        connection = copy.connect()
    assert (
        Database("postgres", template.server.url()).execute(
            "select 1 from pg_database where datname = %s", copy.name
        )
        == []
    )
    connection.close()
