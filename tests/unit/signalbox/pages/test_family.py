"""Callbacks as a tree."""

from datetime import UTC, datetime
from uuid import UUID, uuid4

from signalbox.pages.family import SHOWN, counted, group_callbacks, unfinished
from signalbox.records.jobs import Relative

NOW = datetime(2026, 11, 16, tzinfo=UTC)


def relative(parent: UUID | None, callback: str | None, status: str = "SUCCESSFUL") -> Relative:
    return Relative(
        action_uuid=uuid4(), parent_uuid=parent, action_name="webhook", callback=callback, depth=0, status=status,
        run=1, attempt=1, created_at=NOW,
    )  # fmt: skip


def test_callbacks_of_one_definition_are_a_group_with_trouble_first() -> None:
    root = relative(None, None)
    sites = [relative(root.action_uuid, "site") for _ in range(SHOWN + 2)]
    late, bad = relative(root.action_uuid, "site", "BACKOFF"), relative(root.action_uuid, "site", "FAILED")
    done = relative(root.action_uuid, "done")
    below = relative(done.action_uuid, "next", "PENDING")
    first, second = group_callbacks([root, *sites, late, bad, done, below])
    assert (first.name, first.status, first.left_out) == ("site", "FAILED", 4)
    assert [node.member.status for node in first.nodes[:3]] == ["FAILED", "BACKOFF", "SUCCESSFUL"]
    assert first.counts == "1 failed, 1 backoff, 12 successful"
    assert second.nodes[0].groups[0].name == "next"
    assert counted([below]) == "1 pending"


def test_a_job_without_callbacks_has_no_groups() -> None:
    assert group_callbacks([relative(None, None)]) == []
    assert group_callbacks([]) == []


def test_what_is_left_of_the_callbacks_is_one_sentence() -> None:
    done, late, bad = (relative(None, "done", each) for each in ("SUCCESSFUL", "BACKOFF", "FAILED"))
    assert unfinished([]) == unfinished([done]) == ""
    assert unfinished([done, late]) == "1 of 2 callbacks has not succeeded: 1 backoff."
    assert unfinished([late, bad]) == "2 of 2 callbacks have not succeeded: 1 failed, 1 backoff."
