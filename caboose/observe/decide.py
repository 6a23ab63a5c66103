"""Decides the next step of an observation, given its thread; all rules, no side effects."""

from collections.abc import Collection

from caboose.case import NextStep
from caboose.rows import Thread
from switchyard.sources import Observation
from switchyard.status import Status


def decide(seen: Observation, thread: Thread | None, names: Collection[str]) -> NextStep:
    """The next step of an observation; `names`: the action names that the source serves."""
    if thread is None:
        return _without_thread(seen)
    if seen.run > thread.run or thread.action_name not in names:
        return NextStep.REPORT
    over = thread.status.ended or seen.run < thread.run
    if seen.status is None:
        return NextStep.ACKNOWLEDGE  # gone without an end: reconcile looks for itself before it ends anything
    if seen.status.ended:
        return _end(thread, over=over)
    if over:
        return _after_the_end(seen.status, thread)
    return _progress(seen, thread.status)


def _without_thread(seen: Observation) -> NextStep:
    """The thread was dropped by retention: stop a running execution, forget an ended one."""
    if seen.status is None or seen.status is Status.INFO:
        return NextStep.ACKNOWLEDGE
    return NextStep.FORGET if seen.status.ended else NextStep.STOP


def _end(thread: Thread, *, over: bool) -> NextStep:
    """An end counts only after conductor has recorded the handover."""
    if over:
        return NextStep.FORGET if thread.recorded else NextStep.COMPLETE
    return NextStep.COMPLETE if thread.status in (Status.QUEUED, Status.RUNNING) else NextStep.LATER


def _after_the_end(seen: Status, thread: Thread) -> NextStep:
    """It runs although its thread has ended; if the execution's end is recorded, look again first.

    The observation may be old. But a create that was on its way while its conductor lost the lock may have
    arrived after the deletion, and then what it started is not needed.
    """
    if seen is Status.INFO:
        return NextStep.WRITE
    return NextStep.LOOK if thread.any_end_recorded else NextStep.STOP


def _progress(seen: Observation, thread: Status) -> NextStep:
    """RUNNING is written only after QUEUED: before that, conductor's next event would replace it."""
    if seen.status is Status.INFO:
        return NextStep.WRITE
    if seen.status is not Status.RUNNING:
        return NextStep.ACKNOWLEDGE
    if thread is Status.RUNNING:
        return NextStep.NOTE if "progress" in seen.detail else NextStep.ACKNOWLEDGE
    return NextStep.WRITE if thread is Status.QUEUED else NextStep.LATER
