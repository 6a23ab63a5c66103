"""The inbox: what is over by itself leaves it, and nothing else does."""

import pytest

from tests.integration.ledger.ledger import Ledger

pytestmark = pytest.mark.database


def test_a_notice_that_is_over_takes_only_itself_out_of_the_inbox(ledger: Ledger) -> None:
    ledger.connection.execute(
        """insert into switchyard.journal (kind, subject, actor, reason, needs_review) values
        ('source', 'queue a', 'caboose', 'gone', true), ('source', 'queue b', 'caboose', 'gone', true),
        ('source', 'queue a', 'ann', 'look at this', true), ('other', 'queue a', 'caboose', 'gone', true)"""
    )
    over = "select switchyard.notice_over('source', 'queue a', 'it is back')"
    assert ledger.connection.execute(over).fetchall() == [(True,)]
    left = ledger.connection.execute(
        "select kind, subject, actor from switchyard.journal where needs_review order by entry_id"
    ).fetchall()
    assert left == [
        ("source", "queue b", "caboose"),
        ("source", "queue a", "ann"),
        ("other", "queue a", "caboose"),
    ]
    assert ledger.connection.execute(over).fetchall() == [(False,)]
