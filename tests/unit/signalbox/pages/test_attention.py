"""What needs somebody comes first, by a rule."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from signalbox.pages.attention import needs_attention, queue_rows
from signalbox.records.operations import (
    Inbox,
    InboxEntry,
    Pause,
    Queue,
    QueueList,
    QueueState,
    Worker,
    WorkerList,
)

NOW = datetime(2026, 11, 16, 21, 40, tzinfo=UTC)


def queue(name: str, waiting: int = 0, running: int = 0, *, paused: bool = False) -> Queue:
    states = [
        QueueState(status=status, depth=depth, processable=depth, oldest=NOW)
        for status, depth in (("PENDING", waiting), ("RUNNING", running))
        if depth
    ]
    pause = Pause(since=NOW, actor="ops", reason="migration") if paused else None
    return Queue(name=name, depth=waiting + running, paused=pause, states=states)


def worker(name: str | None, state: str = "running", **detail: Any) -> Worker:
    return Worker(
        worker_id=uuid4(), kind="conductor", action_name=name, host="yard-a", started_at=NOW, beat_at=NOW,
        state=state, done=1, failed=0, rate=2.0, detail=detail,
    )  # fmt: skip


def rows(queues: list[Queue], *workers: Worker) -> dict[str, str]:
    found = queue_rows(QueueList(queues=queues), WorkerList(workers=list(workers)))
    return {row.name: row.condition for row in found}


@pytest.mark.parametrize(
    ("one", "workers", "condition"),
    [
        (queue("a", 3), [], "unserved"),
        (queue("a", 3), [worker("b")], "unserved"),
        (queue("a", 3), [worker("a", "lost")], "unserved"),
        (queue("a", 0, 3), [], "well"),
        (queue("a", 3), [worker("a")], "well"),
        (queue("a", 3, paused=True), [worker("a")], "paused"),
        (queue("a", 3, paused=True), [], "unserved"),
        (queue("a", 3), [worker("a"), worker("a", breaker_factor=0.5)], "slowed"),
        (queue("a", 3), [worker("a", breaker_factor="wrong")], "well"),
        (queue("a"), [worker("a")], "idle"),
    ],
)
def test_the_condition_of_a_queue(one: Queue, workers: list[Worker], condition: str) -> None:
    assert rows([one], *workers)["a"] == condition


def test_a_name_that_is_served_is_listed_without_work() -> None:
    assert rows([], worker("a")) == {"a": "idle"}


def test_without_the_right_to_see_workers_nothing_is_called_unserved() -> None:
    [row] = queue_rows(QueueList(queues=[queue("a", 3)]), None)
    assert row.condition == "well"


def test_trouble_first_then_by_what_waits() -> None:
    queues = [queue("calm", 9), queue("paused", 5, paused=True), queue("small", 1), queue("large", 7)]
    assert list(rows(queues, worker("calm"), worker("paused"))) == ["large", "small", "paused", "calm"]


def test_concerns_are_sorted_worst_first() -> None:
    workers = WorkerList(workers=[worker("slow", breaker_factor=0.1), worker("held"), worker(None, "lost")])
    found = queue_rows(
        QueueList(queues=[queue("slow", 2), queue("held", 9, paused=True), queue("gone", 1)]), workers
    )
    inbox = Inbox(entries=[InboxEntry(since=NOW, kind="thread")], more=False)
    concerns = needs_attention(found, workers, inbox)
    assert [concern.condition for concern in concerns] == ["unserved", "lost", "slowed", "paused", "failed"]
    assert [concern.label for concern in concerns] == [
        "Nobody serves",
        "Worker lost",
        "Breaker",
        "Paused",
        "Inbox",
    ]
    assert concerns[3].quote == "migration"
    assert [concern.since for concern in concerns] == [NOW, NOW, None, NOW, NOW]


def test_nothing_needs_somebody_where_all_is_well() -> None:
    workers = WorkerList(workers=[worker("a")])
    found = queue_rows(QueueList(queues=[queue("a", 3)]), workers)
    assert needs_attention(found, workers, Inbox(entries=[], more=False)) == []
