"""Parses the messages that workers write on the status queue, treating them as hostile."""

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from switchyard.errors import BadInput
from switchyard.status import Status

LONGEST_TEXT = 8192
_STATUSES = {Status.RUNNING, Status.INFO, Status.SUCCESSFUL, Status.FAILED, Status.BACKOFF}
_EVENTS = {"started", "beat", "ended"}


class UnreadableMessage(BadInput):
    """The message is malformed or not from a worker; the error text gives the reason."""


@dataclass(frozen=True, slots=True)
class Report:
    """A worker's message about one job."""

    uuid: UUID
    run: int
    status: Status
    fatal: bool
    error: str | None
    output: str | None
    details: dict[str, Any]  # progress, step, worker, delivery, seq


@dataclass(frozen=True, slots=True)
class OwnReport:
    """A worker's message about a job that a front end put on the queue itself, without an action."""

    job: str | None
    status: Status
    error: str | None
    output: str | None


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """A worker's message about itself."""

    worker: str
    kind: str
    event: str
    done: int
    failed: int
    rate: float


def read(body: str) -> Report | OwnReport | WorkerReport:
    """Parse a message; raises UnreadableMessage."""
    try:
        message = json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise UnreadableMessage(f"not JSON: {error}") from None
    if not isinstance(message, dict):
        raise UnreadableMessage("not a JSON object")
    if "event" in message and "action_uuid" not in message:
        return _worker(message)
    return _report(message)


def _report(message: dict[str, Any]) -> Report | OwnReport:
    if message.get("version") != 1:
        raise UnreadableMessage(f"version {_shown(message.get('version'))} is not known; version 1 is")
    if message.get("action_uuid", "") is None and message.get("run", 0) is None:
        return OwnReport(
            job=_text(message, "job"),
            status=_status(message.get("status")),
            error=_text(message, "error"),
            output=_text(message, "output"),
        )
    if message.get("action_uuid") is None or message.get("run") is None:
        raise UnreadableMessage("no action_uuid and run: it belongs to no thread")
    return Report(
        uuid=_uuid(message["action_uuid"]),
        run=_count(message, "run", least=1),
        status=_status(message.get("status")),
        fatal=message.get("fatal") is True,
        error=_text(message, "error"),
        output=_text(message, "output"),
        details=_details(message),
    )


def _worker(message: dict[str, Any]) -> WorkerReport:
    worker = _text(message, "worker")
    event = message.get("event")
    if not worker or event not in _EVENTS:
        raise UnreadableMessage(f"a worker's message needs worker and one of {', '.join(sorted(_EVENTS))}")
    return WorkerReport(
        worker=worker[:200],
        kind=(_text(message, "kind") or "assessment")[:50],
        event=event,
        done=_count(message, "done"),
        failed=_count(message, "failed"),
        rate=_number(message.get("rate"), 0.0, 1e9) or 0.0,
    )


def _details(message: dict[str, Any]) -> dict[str, Any]:
    details = {
        "progress": _number(message.get("progress"), 0.0, 1.0),
        "step": _text(message, "step"),
        "worker": _text(message, "worker"),
        "delivery": _number(message.get("delivery"), 0, 2**31),
        "seq": _number(message.get("seq"), 0, 2**53),
    }
    return {name: value for name, value in details.items() if value is not None}


def _uuid(value: Any) -> UUID:
    try:
        uuid = UUID(value)
    except (ValueError, AttributeError, TypeError):
        raise UnreadableMessage(f"action_uuid {_shown(value)} is not a valid UUID") from None
    if uuid.version != 7:
        raise UnreadableMessage(f"action_uuid {uuid} is not an action's id: not a UUID of version 7")
    return uuid


def _status(value: Any) -> Status:
    if isinstance(value, str) and value in _STATUSES:
        return Status(value)
    raise UnreadableMessage(f"status {_shown(value)} is not one of {', '.join(sorted(_STATUSES))}")


def _count(message: dict[str, Any], name: str, least: int = 0) -> int:
    value = message.get(name, 0)
    if isinstance(value, int) and not isinstance(value, bool) and least <= value < 2**31:
        return value
    raise UnreadableMessage(f"{name} {_shown(value)} is not a count")


def _number(value: Any, low: float, high: float) -> float | None:
    """The number if it is in range. Optional fields out of range are dropped; the message still counts."""
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return value if plain and low <= value <= high else None  # false for NaN and the infinities


def _text(message: dict[str, Any], name: str) -> str | None:
    value = message.get(name)
    return value[:LONGEST_TEXT] if isinstance(value, str) else None


def _shown(value: Any) -> str:
    return repr(value)[:80]


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")
