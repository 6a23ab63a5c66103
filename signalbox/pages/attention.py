"""What needs attention, and the state of each queue: the first lines of the overview."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from signalbox.records.operations import Inbox, Queue, QueueList, Worker, WorkerList

WAITING = ("PENDING", "BACKOFF")
# Actions of an unserved name cannot end by themselves; a pause was a person's decision.
ORDER = ("unserved", "lost", "slowed", "paused", "failed")


@dataclass(frozen=True, slots=True)
class QueueRow:
    """One action name: its waiting actions, those in flight, and the conductors that serve it."""

    name: str
    condition: str
    text: str
    waiting: int
    oldest: datetime | None
    in_flight: int
    rate: float
    factor: float
    serving: Sequence[Worker]
    queue: Queue


@dataclass(frozen=True, slots=True)
class Concern:
    """Something that needs attention: its mark, its subject, and a link."""

    condition: str
    label: str
    subject: str
    text: str
    quote: str
    href: str
    link: str
    weight: int
    since: datetime | None


def queue_rows(queues: QueueList, workers: WorkerList | None) -> list[QueueRow]:
    """Every action name that has open actions or is served; those with problems first."""
    conductors = [
        worker
        for worker in (workers.workers if workers else [])
        if worker.kind == "conductor" and worker.state == "running" and worker.action_name
    ]
    known = {queue.name: queue for queue in queues.queues}
    names = sorted({*known, *(str(worker.action_name) for worker in conductors)})
    rows = [
        _row(known.get(name) or Queue(name=name, depth=0, states=[]), conductors, seen=workers is not None)
        for name in names
    ]
    return sorted(rows, key=lambda row: (_rank(row.condition), -row.waiting, row.name))


def _row(queue: Queue, conductors: Sequence[Worker], *, seen: bool) -> QueueRow:
    serving = [worker for worker in conductors if worker.action_name == queue.name]
    waiting = [state for state in queue.states if state.status in WAITING]
    factor = min((_factor(worker) for worker in serving), default=1.0)
    depth = sum(state.depth for state in waiting)
    condition, text = _condition(queue, depth, factor, unserved=seen and not serving)
    return QueueRow(
        name=queue.name,
        condition=condition,
        text=text,
        waiting=depth,
        oldest=min((state.oldest for state in waiting if state.oldest), default=None),
        in_flight=sum(state.depth for state in queue.states if state.status not in WAITING),
        rate=sum(worker.rate for worker in serving),
        factor=factor,
        serving=serving,
        queue=queue,
    )


def _condition(queue: Queue, depth: int, factor: float, *, unserved: bool) -> tuple[str, str]:
    if unserved and depth:
        return "unserved", "Nobody serves"
    if queue.paused:
        return "paused", f"Paused by {queue.paused.actor}"
    if factor < 1:
        return "slowed", f"Slowed to {factor * 100:.2g} % of its rate"
    return ("well", "Well") if depth or queue.depth else ("idle", "Idle")


def _factor(worker: Worker) -> float:
    found = worker.detail.get("breaker_factor", 1.0)
    return float(found) if isinstance(found, int | float) else 1.0


def _rank(condition: str) -> int:
    return ORDER.index(condition) if condition in ORDER else len(ORDER)


def needs_attention(
    rows: Sequence[QueueRow], workers: WorkerList | None, inbox: Inbox | None
) -> list[Concern]:
    """Worst first: unserved names, lost workers, open breakers, pauses, then the inbox."""
    found = [_of_queue(row) for row in rows if row.condition in ORDER]
    found += [_of_lost(worker) for worker in (workers.workers if workers else []) if worker.state == "lost"]
    if inbox and inbox.entries:
        found.append(_of_inbox(inbox))
    return sorted(found, key=lambda concern: (_rank(concern.condition), -concern.weight, concern.subject))


def _of_queue(row: QueueRow) -> Concern:
    waiting = f"{row.waiting:,} {'waits' if row.waiting == 1 else 'wait'}" if row.waiting else "Nothing waits"
    paused = row.queue.paused
    label, text, quote, link = {
        "unserved": (
            "Nobody serves",
            f"{waiting}, and no conductor serves this action name.",
            "",
            "What to start",
        ),
        "slowed": (
            "Breaker",
            f"{waiting}. {row.text}, because its errors match the breaker.",
            "",
            "See the queue",
        ),
        "paused": (
            "Paused",
            f"{waiting}. {paused.actor} paused it:" if paused else waiting,
            paused.reason if paused else "",
            "See the queue",
        ),
    }[row.condition]
    since = {"unserved": row.oldest, "paused": paused.since if paused else None}.get(row.condition)
    where = f"/queues#{row.name}"
    return Concern(row.condition, label, row.name, text, quote, where, link, row.waiting, since)


def _of_lost(worker: Worker) -> Concern:
    served = f" for {worker.action_name}" if worker.action_name else ""
    text = f"{worker.kind}{served}, process {worker.pid}, is lost."
    return Concern("lost", "Worker lost", worker.host, text, "", "/workers", "See workers", 1, worker.beat_at)


def _of_inbox(inbox: Inbox) -> Concern:
    count = f"{len(inbox.entries):,}{' or more' if inbox.more else ''}"
    verb = "waits" if len(inbox.entries) == 1 else "wait"
    text, since = f"{count} {verb} for a decision.", inbox.entries[0].since
    return Concern("failed", "Inbox", "Inbox", text, "", "/inbox", "Decide", 0, since)
