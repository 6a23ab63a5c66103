"""Determines whether the worker is healthy, from the shared state alone."""

from dataclasses import dataclass

from assessment.work.state import RUNNING, State


@dataclass(frozen=True)
class Limits:
    heartbeat: float
    """HEARTBEAT_TIMEOUT."""
    buffer: float
    """TASK_TIMEOUT_BUFFER: a long task may take this multiple of its estimate."""


def heartbeat_age(state: State, now: float) -> float:
    return now - state.heartbeat if state.heartbeat > 0 else float("inf")


def overdue(state: State, limits: Limits, now: float) -> list[str]:
    """Why the worker seems to hang; empty if it does not.

    A long task may take its expected duration times the buffer, and may be silent for as long.
    """
    reasons = []
    age, started = heartbeat_age(state, now), state.task_start
    allowed = state.expected_duration * limits.buffer if started > 0 else 0.0
    silence = max(limits.heartbeat, allowed)
    if age > silence:
        reasons.append(f"heartbeat_stale ({age:.1f}s > {silence:.1f}s)")
    if allowed > 0 and now - started > allowed:
        reasons.append(f"task_overtime ({now - started:.1f}s > {allowed:.1f}s)")
    return reasons


def reasons(state: State, limits: Limits, now: float) -> list[str]:
    """Why the worker is unavailable; empty if it is healthy."""
    status = state.status
    return ([] if status == RUNNING else [f"status={status}"]) + overdue(state, limits, now)
