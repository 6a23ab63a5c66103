"""Whether the worker is healthy, from the shared state alone."""

from dataclasses import dataclass

from assessment.work.state import RUNNING, State


@dataclass(frozen=True)
class Limits:
    heartbeat: float
    """HEARTBEAT_TIMEOUT."""
    buffer: float
    """TASK_TIMEOUT_BUFFER: a long task may take so many times its estimate."""


def heartbeat_age(state: State, now: float) -> float:
    return now - state.heartbeat if state.heartbeat > 0 else float("inf")


def overdue(state: State, limits: Limits, now: float) -> list[str]:
    """Why it seems to hang; empty where it does not. A long task has to show life like any other."""
    reasons = []
    age = heartbeat_age(state, now)
    if age > limits.heartbeat:
        reasons.append(f"heartbeat_stale ({age:.1f}s > {limits.heartbeat:.1f}s)")
    started, expected = state.task_start, state.expected_duration
    if started > 0 and expected > 0 and now - started > expected * limits.buffer:
        reasons.append(f"task_overtime ({now - started:.1f}s > {expected * limits.buffer:.1f}s)")
    return reasons


def reasons(state: State, limits: Limits, now: float) -> list[str]:
    """Why it is unavailable; empty if it is healthy."""
    status = state.status
    return ([] if status == RUNNING else [f"status={status}"]) + overdue(state, limits, now)
