"""What to do about an observation, given its thread: every case in one place, and pure."""

from enum import Enum

from caboose.ledger import Thread
from switchyard.sources import Observation
from switchyard.status import Status


class Todo(Enum):
    """What the core does next."""

    NOTHING = "nothing"  # the ledger knows it already
    WRITE = "write"  # an event that ends nothing
    NOTE = "note"  # how far it is: an INFO event, for the thread is RUNNING already
    LATER = "later"  # conductor is still at it: what we would write now, it would overwrite
    COMPLETE = "complete"  # archive, record, call back, forget
    FORGET = "forget"  # archive and forget: the ledger has its end already, or no thread at all
    STOP = "stop"  # it runs, and nobody waits for it any more
    DOUBT = "doubt"  # it runs though its end was archived: old news, or begun again under the same name
    STRANGE = "strange"  # it is of a run that nobody opened


def decide(seen: Observation, thread: Thread | None) -> Todo:
    """The one rule book."""
    if thread is None:
        return _without_thread(seen)
    if seen.run > thread.run:
        return Todo.STRANGE
    over = thread.status.ended or seen.run < thread.run
    if seen.status is None:
        return Todo.NOTHING  # gone without an end: reconcile looks for itself, and again, before it says so
    if seen.status.ended:
        return Todo.FORGET if over and thread.told else Todo.COMPLETE
    if over:
        return _afterwards(seen.status, thread)
    return _progress(seen, thread.status)


def _without_thread(seen: Observation) -> Todo:
    """Retention took the thread: what still runs is stopped, what ended is archived and forgotten."""
    if seen.status is None or seen.status is Status.INFO:
        return Todo.NOTHING
    return Todo.FORGET if seen.status.ended else Todo.STOP


def _afterwards(seen: Status, thread: Thread) -> Todo:
    """What runs though its thread is over; of an execution whose end we have seen, a fresh look decides.

    News of it may be old. But a create that was on its way while its conductor lost the lock may have come
    after the deletion, and then runs for nobody.
    """
    if seen is Status.INFO:
        return Todo.WRITE
    return Todo.DOUBT if thread.seen_ended else Todo.STOP


def _progress(seen: Observation, thread: Status) -> Todo:
    """RUNNING is written onto QUEUED only: before that, conductor's own next word outranks it."""
    if seen.status is Status.INFO:
        return Todo.WRITE
    if seen.status is not Status.RUNNING:
        return Todo.NOTHING
    if thread is Status.RUNNING:
        return Todo.NOTE if "progress" in seen.detail else Todo.NOTHING
    return Todo.WRITE if thread is Status.QUEUED else Todo.LATER
