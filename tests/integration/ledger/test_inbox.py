"""The inbox: what is over by itself leaves it, and nothing else does."""

import psycopg
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


def test_an_entry_is_dismissed_once_and_the_first_reason_counts(ledger: Ledger) -> None:
    [(entry,)] = ledger.connection.execute(
        "insert into switchyard.journal (kind, subject, needs_review) values ('source', 'queue', true) returning entry_id"
    ).fetchall()
    dismiss = "select switchyard.dismiss(%s, 'ann', %s)"
    assert ledger.connection.execute(dismiss, [entry, "known"]).fetchall() == [(True,)]
    assert ledger.connection.execute(dismiss, [entry, "again"]).fetchall() == [(False,)]
    reason = "select detail ->> 'dismissed_because' from switchyard.journal where entry_id = %s"
    assert ledger.connection.execute(reason, [entry]).fetchall() == [("known",)]


def test_newuser_1_a_name_that_no_conductor_serves_is_shown_after_a_while(ledger: Ledger) -> None:
    ledger.submit("new")
    ledger.connection.execute(
        """insert into switchyard.action (action_uuid, action_name)
        select switchyard.uuid7(now() - interval '10 minutes'), n from unnest(array['old', 'old', 'served']) as n"""
    )
    ledger.connection.execute(
        "insert into switchyard.worker (kind, host, action_name) values ('conductor', 'h', 'served')"
    )
    unserved = ledger.connection.execute(
        "select action_name, waiting from switchyard.unserved order by 1"
    ).fetchall()
    assert unserved == [("new", 1), ("old", 2)]
    inbox = ledger.connection.execute("select kind, subject, error from switchyard.inbox").fetchall()
    assert inbox == [("unserved", "old", "2 actions wait, and no conductor serves this action name")]
    ledger.connection.execute("update switchyard.worker set lost_at = now()")
    assert len(ledger.connection.execute("select * from switchyard.unserved").fetchall()) == 3


def test_dismissing_and_calling_back_are_about_one_action_alone(ledger: Ledger) -> None:
    failed, other, still_open = (ledger.submit() for _ in range(3))
    for uuid in (failed, other):
        ledger.event(uuid, "FAILED")
    dismiss = "select switchyard.dismiss_thread(%s, 'ann', 'known')"
    again = "select switchyard.call_back(%s, 'ann', 'they lost it')"
    execute = ledger.connection.execute
    assert [execute(dismiss, [failed]).fetchall() for _ in range(2)] == [[(True,)], [(False,)]]
    assert execute("select action_uuid from switchyard.thread where needs_review").fetchall() == [(other,)]
    assert [execute(again, [failed]).fetchall() for _ in range(2)] == [[(True,)], [(False,)]]
    assert execute("select action_uuid from switchyard.thread where callbacks_due").fetchall() == [(failed,)]
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
        execute(again, [still_open])
