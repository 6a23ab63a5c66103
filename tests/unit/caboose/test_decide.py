"""The rule book, case by case: rows are what is observed, columns what the thread says."""

from uuid import UUID

import pytest

from caboose.case import NextStep
from caboose.observe.decide import decide
from caboose.rows import Thread
from switchyard.sources import Observation
from switchyard.status import ENDS, Status

U = UUID("0190163d-8694-739b-aea5-966c26f8ad91")

NAMES = ["run"]


def thread(status: Status, run: int = 2, *, recorded: bool = False, any_end_recorded: bool = False) -> Thread:
    return Thread(1, U, status, run, 1, 0, 7, "run", "flow", None, False, recorded, any_end_recorded)


def seen(status: Status | None, run: int = 2) -> Observation:
    return Observation(U, run, status)


@pytest.mark.parametrize("observed", [None, *Status])
def test_without_a_thread_nothing_is_written(observed: Status | None) -> None:
    step = decide(seen(observed), None, NAMES)
    assert step in {NextStep.ACKNOWLEDGE, NextStep.FORGET, NextStep.STOP}
    assert (step is NextStep.FORGET) == (observed in ENDS)


@pytest.mark.parametrize("end", sorted(ENDS))
@pytest.mark.parametrize("at", [Status.PENDING, Status.QUEUED, Status.RUNNING, Status.BACKOFF])
def test_the_end_of_an_open_run_completes_it_once_it_was_handed_over(end: Status, at: Status) -> None:
    handed_over = at in (Status.QUEUED, Status.RUNNING)
    expected = NextStep.COMPLETE if handed_over else NextStep.LATER
    assert decide(seen(end), thread(at), NAMES) is expected


@pytest.mark.parametrize("observed", [*Status])
def test_security_m2_an_observation_of_another_sources_action_counts_for_nothing(observed: Status) -> None:
    assert decide(seen(observed), thread(Status.RUNNING), ["another"]) is NextStep.REPORT


@pytest.mark.parametrize("end", sorted(ENDS))
@pytest.mark.parametrize("at", sorted(ENDS))
def test_an_end_after_an_end_is_recorded_once_and_then_only_forgotten(end: Status, at: Status) -> None:
    assert decide(seen(end), thread(at), NAMES) is NextStep.COMPLETE
    assert decide(seen(end), thread(at, recorded=True), NAMES) is NextStep.FORGET


@pytest.mark.parametrize("at", sorted(ENDS))
def test_what_runs_after_the_end_is_stopped(at: Status) -> None:
    assert decide(seen(Status.RUNNING), thread(at), NAMES) is NextStep.STOP
    assert decide(seen(Status.QUEUED), thread(at), NAMES) is NextStep.STOP
    assert decide(seen(Status.INFO), thread(at), NAMES) is NextStep.WRITE


@pytest.mark.parametrize("at", sorted(ENDS))
def test_news_of_what_is_known_to_have_ended_are_doubted(at: Status) -> None:
    assert decide(seen(Status.RUNNING), thread(at, any_end_recorded=True), NAMES) is NextStep.LOOK


def test_what_runs_for_an_older_run_is_stopped() -> None:
    assert decide(seen(Status.RUNNING, 1), thread(Status.RUNNING), NAMES) is NextStep.STOP


@pytest.mark.parametrize("observed", sorted(Status))
def test_a_run_that_was_not_opened_is_strange(observed: Status) -> None:
    assert decide(seen(observed, 3), thread(Status.RUNNING), NAMES) is NextStep.REPORT


@pytest.mark.parametrize(
    ("at", "step"),
    [
        (Status.PENDING, NextStep.LATER),
        (Status.BACKOFF, NextStep.LATER),
        (Status.QUEUED, NextStep.WRITE),
        (Status.RUNNING, NextStep.ACKNOWLEDGE),
    ],
)
def test_running_is_written_onto_queued_alone(at: Status, step: NextStep) -> None:
    assert decide(seen(Status.RUNNING), thread(at), NAMES) is step


def test_progress_of_what_runs_is_noted() -> None:
    progress = Observation(U, 2, Status.RUNNING, detail={"progress": 0.5})
    assert decide(progress, thread(Status.RUNNING), NAMES) is NextStep.NOTE
    assert decide(progress, thread(Status.QUEUED), NAMES) is NextStep.WRITE


def test_what_is_gone_is_left_to_reconcile() -> None:
    assert decide(seen(None), thread(Status.RUNNING), NAMES) is NextStep.ACKNOWLEDGE


@pytest.mark.parametrize("at", [Status.PENDING, Status.QUEUED, Status.RUNNING, Status.BACKOFF])
@pytest.mark.parametrize("observed", [Status.PENDING, Status.QUEUED, Status.BACKOFF])
def test_of_an_open_run_only_running_info_and_ends_are_taken(observed: Status, at: Status) -> None:
    assert decide(seen(observed), thread(at), NAMES) is NextStep.ACKNOWLEDGE
    assert decide(seen(Status.INFO), thread(at), NAMES) is NextStep.WRITE
