"""Which rows a write may touch without waiting: those of threads that nobody else has locked, in either table."""

from uuid import UUID

import pytest

from tests.integration.ledger.ledger import Ledger

pytestmark = pytest.mark.database
FREE = "select array(select switchyard.lock_free_threads(%s))"


def free(ledger: Ledger, uuids: list[UUID]) -> set[UUID]:
    [(found,)] = ledger.connection.execute(FREE, [uuids]).fetchall()
    return set(found)


def test_threads_are_free_where_neither_of_their_rows_is_locked(ledger: Ledger) -> None:
    in_yard, in_thread, open_one, ended, other = (ledger.submit() for _ in range(5))
    ledger.event(ended, "SUCCESSFUL", 1, 1)
    asked = [in_yard, in_thread, open_one, ended]
    with ledger.database.connect(autocommit=False) as somebody:
        somebody.execute("select from switchyard.yard where action_uuid = %s for update", [in_yard])
        somebody.execute("select from switchyard.thread where action_uuid = %s for update", [in_thread])
        with ledger.connection.transaction():
            assert free(ledger, asked) == {open_one, ended}
            # Locked until the end of the transaction; what was not asked for is not.
            mine = "select action_uuid from switchyard.thread where action_uuid = any (%s) for update skip locked"
            seen = somebody.execute(mine, [[open_one, ended, other]]).fetchall()
            assert seen == [(other,)]
    assert free(ledger, asked) == set(asked)
