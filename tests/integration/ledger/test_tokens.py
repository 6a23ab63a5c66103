"""Tokens of the HTTP API, as the ledger stores them."""

import pytest

from tests.parts.database import Database

pytestmark = pytest.mark.database

ADD = "select switchyard.add_token(%s, %s, 'reader', null, 'ann')"
VALID = "select name from switchyard.token where revoked_at is null order by name"


def test_only_the_named_token_is_revoked_and_only_once(database: Database) -> None:
    for name in ("first", "second", "third"):
        database.execute(ADD, name, name.encode().ljust(32))
    assert database.execute("select switchyard.revoke_token('second', 'ann', 'lost')") == [(True,)]
    assert database.execute(VALID) == [("first",), ("third",)]
    assert database.execute("select switchyard.revoke_token('second', 'ann', 'lost')") == [(False,)]
    assert database.execute("select switchyard.revoke_token('fourth', 'ann', 'lost')") == [(False,)]
    assert database.execute(VALID) == [("first",), ("third",)]
