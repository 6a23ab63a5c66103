"""The roll-up: a plain INSERT in any shape gives the right thread."""

import itertools
from uuid import UUID

import psycopg
import pytest

from tests.integration.ledger.ledger import Ledger

pytestmark = pytest.mark.database


def insert(ledger: Ledger, rows: list[tuple[UUID, str, int | None, int | None]]) -> None:
    """One statement for all rows, in their order."""
    columns: list[list[object]] = [list(column) for column in zip(*rows, strict=True)]
    ledger.connection.execute(
        "insert into switchyard.event (action_uuid, status, run, attempt) "
        "select u, s::switchyard.status, r, a "
        "from unnest(%s::uuid[], %s::text[], %s::int[], %s::int[]) with ordinality x(u, s, r, a, n) order by n",
        columns,
    )


def test_a_row_with_id_and_status_is_enough(ledger: Ledger) -> None:
    uuid = ledger.submit()
    ledger.connection.execute(
        "insert into switchyard.event (action_uuid, status) values (%s, 'RUNNING')", [uuid]
    )
    assert ledger.state(uuid) == ("RUNNING", 1, 0)
    row = ledger.connection.execute("select run, attempt, source, ignored from switchyard.event").fetchall()
    assert row == [(1, 0, "postgres", False)]


def test_an_event_without_an_attempt_is_about_the_present_one(ledger: Ledger) -> None:
    uuid = ledger.submit()
    ledger.event(uuid, "RUNNING", 1, 2)
    ledger.event(uuid, "FAILED", 1, None)
    assert ledger.state(uuid) == ("FAILED", 1, 2)
    ledger.event(uuid, "PENDING", 2, None)
    assert ledger.state(uuid) == ("PENDING", 2, 0)
    attempts = "select run, attempt from switchyard.event order by event_id"
    assert ledger.connection.execute(attempts).fetchall() == [(1, 2), (1, 2), (2, 0)]


def test_the_order_of_arrival_does_not_matter(ledger: Ledger) -> None:
    steps = [("QUEUED", 1, 1), ("RUNNING", 1, 1), ("BACKOFF", 1, 1), ("QUEUED", 1, 2), ("SUCCESSFUL", 1, 2)]
    for order in itertools.permutations(steps):
        uuid = ledger.submit()
        for status, run, attempt in order:
            ledger.event(uuid, status, run, attempt)
        assert ledger.state(uuid) == ("SUCCESSFUL", 1, 2), order


def test_many_events_of_one_thread_in_one_statement_take_turns(ledger: Ledger) -> None:
    uuid, other = ledger.submit(), ledger.submit()
    insert(ledger, [(uuid, "RUNNING", 1, 1), (other, "QUEUED", 1, 1), (uuid, "FAILED", 1, 1),
                    (uuid, "SUCCESSFUL", 1, 1), (uuid, "PENDING", 2, 0), (uuid, "RUNNING", 2, 1)])  # fmt: skip
    assert ledger.state(uuid) == ("RUNNING", 2, 1)
    assert ledger.state(other) == ("QUEUED", 1, 1)
    assert ledger.events(uuid) == [
        ("RUNNING", False), ("FAILED", False), ("SUCCESSFUL", True), ("PENDING", False), ("RUNNING", False),
    ]  # fmt: skip


def test_one_statement_for_thousands(ledger: Ledger) -> None:
    ledger.connection.execute(
        "insert into switchyard.action (action_name) select 'x' from generate_series(1, 3000)"
    )
    ledger.connection.execute(
        "insert into switchyard.event (action_uuid, status, run, attempt) "
        "select action_uuid, 'SUCCESSFUL', 1, 1 from switchyard.action"
    )
    counted = ledger.connection.execute(
        "select status::text, count(*) from switchyard.thread group by 1"
    ).fetchall()
    assert counted == [("SUCCESSFUL", 3000)]
    assert ledger.connection.execute("select count(*) from switchyard.yard").fetchall() == [(0,)]


def test_a_batch_updates_its_threads_in_place(ledger: Ledger) -> None:
    ledger.connection.execute(
        "insert into switchyard.action (action_name) select 'x' from generate_series(1, 3000)"
    )
    updates = "select sum(n_tup_upd)::int, sum(n_tup_hot_upd)::int from pg_stat_xact_user_tables where relname like 'thread%'"
    with ledger.connection.transaction():
        ledger.connection.execute(
            "insert into switchyard.event (action_uuid, status, run, attempt) "
            "select action_uuid, 'SUCCESSFUL', 1, 1 from switchyard.action order by action_uuid"
        )
        assert ledger.connection.execute(updates).fetchall() == [(3000, 3000)]


@pytest.mark.parametrize("odd", ["late", "info", "default", "opening"])
def test_one_odd_event_among_many_leaves_the_others_as_they_should_be(ledger: Ledger, odd: str) -> None:
    uuids = sorted(ledger.submit() for _ in range(5))
    one, others = uuids[2], uuids[:2] + uuids[3:]
    ledger.event(one, "FAILED", 1, 1)
    events = {
        "late": ("RUNNING", 1, 1, ("FAILED", 1, 1)),
        "info": ("INFO", 1, 9, ("FAILED", 1, 1)),
        "default": ("SUCCESSFUL", None, None, ("FAILED", 1, 1)),
        "opening": ("PENDING", 2, 0, ("PENDING", 2, 0)),
    }
    status, run, attempt, then = events[odd]
    ends = {uuid: (uuid, "SUCCESSFUL", 1, 1) for uuid in others}
    insert(ledger, [ends.get(uuid, (uuid, status, run, attempt)) for uuid in uuids])
    assert ledger.state(one) == then
    assert {ledger.state(uuid) for uuid in others} == {("SUCCESSFUL", 1, 1)}
    assert ledger.events(one)[-1] == (status, odd in ("late", "default"))


def test_a_run_that_was_not_opened_refuses_the_whole_statement(ledger: Ledger) -> None:
    one, other = sorted([ledger.submit(), ledger.submit()])
    with pytest.raises(psycopg.errors.CheckViolation, match=r"run 2 of action .* was not opened"):
        insert(ledger, [(one, "SUCCESSFUL", 1, 1), (other, "SUCCESSFUL", 2, 1)])
    assert ledger.state(one) == ledger.state(other) == ("PENDING", 1, 0)


def test_late_and_doubled_events_are_stored_and_marked(ledger: Ledger) -> None:
    uuid = ledger.submit()
    for status in ("RUNNING", "RUNNING", "SUCCESSFUL", "RUNNING", "BACKOFF", "FAILED", "INFO"):
        ledger.event(uuid, status, 1, 1)
    ignored = [status for status, ignored in ledger.events(uuid) if ignored]
    assert ignored == ["RUNNING", "RUNNING", "BACKOFF", "FAILED"]
    assert ledger.state(uuid) == ("SUCCESSFUL", 1, 1)


def test_an_event_of_an_older_run_is_ignored(ledger: Ledger) -> None:
    uuid = ledger.submit()
    ledger.event(uuid, "FAILED", 1, 1)
    ledger.connection.execute("select switchyard.retrigger(%s, 'ann', 'again')", [uuid])
    ledger.event(uuid, "RUNNING", 1, 9)
    assert ledger.state(uuid) == ("PENDING", 2, 0)
    assert ledger.events(uuid)[-1] == ("RUNNING", True)


@pytest.mark.parametrize(
    ("before", "status", "run", "attempt"),
    [
        ("RUNNING", "RUNNING", 2, 1),
        ("RUNNING", "PENDING", 2, 0),  # only an end can be retriggered
        ("SUCCESSFUL", "PENDING", 2, 0),
        ("FAILED", "BACKOFF", 2, 0),  # the workflow's own retry comes instead of the end
        ("FAILED", "PENDING", 3, 0),
        ("FAILED", "PENDING", 2, 1),
        ("RUNNING", "INFO", 2, 0),
        ("RUNNING", "SUCCESSFUL", 2, 1),
    ],
)
def test_a_run_that_was_not_opened_is_refused(
    ledger: Ledger, before: str, status: str, run: int, attempt: int
) -> None:
    uuid = ledger.submit()
    ledger.event(uuid, before, 1, 1)
    with pytest.raises(psycopg.errors.CheckViolation, match=f"run {run} of action {uuid} was not opened"):
        ledger.event(uuid, status, run, attempt)
    assert ledger.state(uuid) == (before, 1, 1)
    assert len(ledger.events(uuid)) == 1


def test_a_workflows_own_retry_opens_the_next_run_and_is_counted(ledger: Ledger) -> None:
    uuid = ledger.submit()
    ledger.event(uuid, "RUNNING", 1, 1)
    ledger.event(uuid, "BACKOFF", 2, 0)
    ledger.event(uuid, "RUNNING", 2, 1)
    ledger.event(uuid, "BACKOFF", 3, 0)
    assert ledger.thread(uuid)["tries"] == 2
    ledger.event(uuid, "FAILED", 3, 1)
    ledger.connection.execute("select switchyard.retrigger(%s, 'ann', 'again')", [uuid])
    assert ledger.thread(uuid)["tries"] == 0


def test_a_backoff_is_due_after_its_delay(ledger: Ledger) -> None:
    uuid = ledger.submit()
    ledger.connection.execute(
        "insert into switchyard.event (action_uuid, status, run, attempt, retry_seconds, error) "
        "values (%s, 'BACKOFF', 1, 1, 90, 'no answer')",
        [uuid],
    )
    thread = ledger.thread(uuid)
    assert (thread["next_attempt_after"] - thread["last_update"]).total_seconds() == 90
    assert thread["error"] == "no answer"
    assert ledger.claim() == []


@pytest.mark.parametrize("status", ["FAILED", "TIMED_OUT", "INVALID", "RETRIES_EXHAUSTED"])
def test_failed_ends_need_review(ledger: Ledger, status: str) -> None:
    uuid = ledger.submit()
    ledger.event(uuid, status, 1, 1)
    thread = ledger.thread(uuid)
    assert thread["needs_review"]
    assert thread["ended_at"] is not None
    inbox = ledger.connection.execute("select action_uuid, status from switchyard.inbox").fetchall()
    assert inbox == [(uuid, status)]


@pytest.mark.parametrize(
    ("workflow", "callbacks", "due"), [(None, None, False), ("w", None, True), (None, "[]", True)]
)
def test_callbacks_are_due_after_a_workflow_or_an_action_with_callbacks(
    ledger: Ledger, workflow: str | None, callbacks: str | None, due: bool
) -> None:
    uuid = ledger.submit(workflow=workflow, callbacks=callbacks)
    assert not ledger.thread(uuid)["callbacks_due"]
    ledger.event(uuid, "FAILED", 1, 1)
    assert ledger.thread(uuid)["callbacks_due"] == due
    if due:
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="still being made"):
            ledger.connection.execute("select switchyard.retrigger(%s, 'ann', 'again')", [uuid])
        ledger.connection.execute("select switchyard.callbacks_made(%s, 1)", [uuid])
    assert ledger.connection.execute("select switchyard.retrigger(%s, 'a', 'b')", [uuid]).fetchall() == [(2,)]


def test_an_event_opens_no_run_while_the_callbacks_of_the_last_are_due(ledger: Ledger) -> None:
    uuid = ledger.submit(workflow="w")
    ledger.event(uuid, "FAILED", 1, 1)
    with pytest.raises(psycopg.errors.CheckViolation, match=r"run 2 of action .* was not opened"):
        ledger.event(uuid, "PENDING", 2, 0)
    ledger.connection.execute("select switchyard.callbacks_made(%s, 1)", [uuid])
    ledger.event(uuid, "PENDING", 2, 0)
    assert ledger.state(uuid) == ("PENDING", 2, 0)


def test_callbacks_are_made_once_and_for_their_own_run(ledger: Ledger) -> None:
    uuid = ledger.submit(workflow="w")
    ledger.event(uuid, "FAILED", 1, 1)
    made = "select switchyard.callbacks_made(%s, %s)"
    assert ledger.connection.execute(made, [uuid, 1]).fetchall() == [(True,)]
    assert ledger.connection.execute(made, [uuid, 1]).fetchall() == [(False,)]
    ledger.connection.execute("select switchyard.retrigger(%s, 'ann', 'again')", [uuid])
    ledger.event(uuid, "FAILED", 2, 1)
    assert ledger.connection.execute(made, [uuid, 1]).fetchall() == [(False,)]
    assert ledger.thread(uuid)["callbacks_due"]


@pytest.mark.parametrize("others", [0, 3])
def test_an_event_that_came_twice_is_marked_also_in_a_batch(ledger: Ledger, others: int) -> None:
    uuid, *rest = sorted(ledger.submit() for _ in range(others + 1))
    ledger.event(uuid, "QUEUED", 1, 1)
    insert(ledger, [(one, "QUEUED", 1, 1) for one in (uuid, *rest)])
    assert ledger.events(uuid) == [("QUEUED", False), ("QUEUED", True)]
    assert all(ledger.events(one) == [("QUEUED", False)] for one in rest)


@pytest.mark.parametrize("others", [0, 2])
def test_hole_19_a_run_has_started_once_it_was_queued_not_while_it_backs_off(
    ledger: Ledger, others: int
) -> None:
    """A workflow whose first dispatch failed timed out as soon as it was queued."""
    uuids = [ledger.submit() for _ in range(others + 1)]

    def started() -> set[object]:
        return {ledger.thread(uuid)["started_at"] for uuid in uuids}

    insert(ledger, [(uuid, "BACKOFF", 1, 1) for uuid in uuids])
    assert started() == {None}
    insert(ledger, [(uuid, "QUEUED", 1, 2) for uuid in uuids])
    [first] = started()
    assert first is not None
    insert(ledger, [(uuid, "RUNNING", 1, 2) for uuid in uuids])
    insert(ledger, [(uuid, "BACKOFF", 1, 2) for uuid in uuids])
    assert started() == {first}
    insert(ledger, [(uuid, "BACKOFF", 2, 0) for uuid in uuids])
    assert started() == {None}
    insert(ledger, [(uuid, "FAILED", 2, 1) for uuid in uuids])
    assert None not in started()
    assert first not in started()


@pytest.mark.parametrize(("detail", "note"), [(None, "no such host"), ('{"note": "by hand"}', "by hand")])
@pytest.mark.parametrize("status", ["FAILED", "INVALID", "RETRIES_EXHAUSTED", "TIMED_OUT"])
def test_mission_note_a_failure_has_a_note(
    ledger: Ledger, status: str, detail: str | None, note: str
) -> None:
    uuid = ledger.submit()
    ledger.connection.execute(
        "insert into switchyard.event (action_uuid, status, error, detail) values (%s, %s, %s, %s)",
        [uuid, status, "no such host\nTraceback …", detail],
    )
    assert ledger.thread(uuid)["note"] == note


def test_mission_b7_a_failed_action_can_be_dismissed_from_the_inbox(ledger: Ledger) -> None:
    uuid = ledger.submit()
    dismiss = "select switchyard.dismiss_thread(%s, 'ann', 'accepted as lost')"
    assert ledger.connection.execute(dismiss, [uuid]).fetchall() == [(False,)]
    ledger.event(uuid, "FAILED", 1, 1)
    assert ledger.connection.execute(dismiss, [uuid]).fetchall() == [(True,)]
    assert ledger.connection.execute("select * from switchyard.inbox").fetchall() == []
    assert ledger.state(uuid) == ("FAILED", 1, 1)
    assert ledger.connection.execute(dismiss, [uuid]).fetchall() == [(False,)]
    [(who, why)] = ledger.connection.execute(
        "select detail ->> 'actor', detail ->> 'reason' from switchyard.event where status = 'INFO'"
    ).fetchall()
    assert (who, why) == ("ann", "accepted as lost")
    ledger.connection.execute("select switchyard.retrigger(%s, 'ann', 'again')", [uuid])
    ledger.event(uuid, "FAILED", 2, 1)
    assert len(ledger.connection.execute("select * from switchyard.inbox").fetchall()) == 1
