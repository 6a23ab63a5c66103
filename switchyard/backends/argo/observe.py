"""One Workflow resource, as an observation."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from switchyard.backends.argo.failure import FailedStep, failed_step
from switchyard.backends.argo.logs import log_of
from switchyard.backends.argo.nodes import NodesError, nodes_of
from switchyard.backends.argo.resource import MANAGER, Resource, identity
from switchyard.process.exit import Exit
from switchyard.sources import Observation
from switchyard.status import Status

_PHASES = {
    None: Status.QUEUED,
    "": Status.QUEUED,
    "Pending": Status.QUEUED,
    "Running": Status.RUNNING,
    "Succeeded": Status.SUCCESSFUL,
    "Failed": Status.FAILED,
    "Error": Status.FAILED,
}
_STOPPED = re.compile(r"Stopped with strategy '(?:Terminate|Stop)'")
_DEADLINE = re.compile(
    r"exceeded its deadline|longer than (?:the )?specified deadline|DeadlineExceeded|exceeded its timeout",
    re.IGNORECASE,
)


def observe(workflow: Resource, manager: str = MANAGER) -> Observation | None:
    """The observation in a resource; None where it is not ours or its phase is unknown."""
    named = identity(workflow, manager)
    phase = phase_of(workflow)
    if named is None or phase not in _PHASES:
        return None
    status = _PHASES[phase]
    if not status.ended:
        return Observation(*named, status, handle=handle_of(workflow))
    return _ended(workflow, named, status)


def phase_of(workflow: Resource) -> str | None:
    """Argo's own word for the state."""
    status = workflow.get("status")  # the CRD keeps whatever was written there
    phase = status.get("phase") if isinstance(status, Mapping) else None
    return None if phase is None else str(phase)


@dataclass(frozen=True, slots=True)
class Handle:
    """Name and uid: what to delete, and the proof that it is the one that was seen; where its log is."""

    name: str
    uid: str
    log: str | None = None


def handle_of(workflow: Resource, log: str | None = None) -> Handle:
    """The handle of a resource as the API server gave it."""
    metadata = workflow["metadata"]
    return Handle(str(metadata["name"]), str(metadata["uid"]), log)


def _ended(workflow: Resource, named: tuple[Any, int], status: Status) -> Observation:
    reported = workflow.get("status") or {}
    message = str(reported.get("message") or "")
    step, unreadable = _failure(workflow) if status is Status.FAILED else (None, None)
    status = _distinguished(status, message, step)
    return Observation(
        *named,
        status,
        error=None if status is Status.SUCCESSFUL else _error(status, message, step),
        fatal=step is not None and step.exit_code == Exit.BAD_INPUT,
        exit_code=None if step is None else step.exit_code,
        output=_outputs(workflow) if status is Status.SUCCESSFUL else None,
        record=json.dumps(workflow, separators=(",", ":")).encode(),
        detail=_detail(reported, step, unreadable),
        handle=handle_of(workflow, log_of(workflow, step) if step else None),
    )


def _failure(workflow: Resource) -> tuple[FailedStep | None, str | None]:
    try:
        return failed_step(nodes_of(workflow), str(workflow["metadata"]["name"])), None
    except NodesError as error:
        return None, str(error)


def _distinguished(status: Status, message: str, step: FailedStep | None) -> Status:
    """Argo reports Failed also for a terminated workflow and one past its deadline."""
    if status is not Status.FAILED:
        return status
    if _STOPPED.search(message):
        return Status.CANCELED
    if _DEADLINE.search(message) or (step is not None and _DEADLINE.search(step.message)):
        return Status.TIMED_OUT
    return status


def _error(status: Status, message: str, step: FailedStep | None) -> str:
    if status is Status.CANCELED or step is None or not step.message:
        return message or f"the workflow ended {status} without a message"
    return f"{step.name}: {step.message}"


def _outputs(workflow: Resource) -> dict[str, Any] | None:
    """The workflow's output parameters: the global ones, else those of its entry point."""
    reported = workflow.get("status") or {}
    parameters = (reported.get("outputs") or {}).get("parameters")
    if not parameters:
        try:
            root = nodes_of(workflow).get(str(workflow["metadata"]["name"])) or {}
        except NodesError:
            root = {}
        parameters = (root.get("outputs") or {}).get("parameters")
    return {p["name"]: p["value"] for p in parameters or [] if "name" in p and "value" in p} or None


def _detail(reported: Resource, step: FailedStep | None, unreadable: str | None) -> dict[str, Any]:
    detail = {
        "phase": reported.get("phase"),
        "started_at": reported.get("startedAt"),
        "finished_at": reported.get("finishedAt"),
        "message": reported.get("message"),
        "step": step and {"name": step.name, "template": step.template, "node": step.node_id},
        "exit_code": step and step.exit_code,
        "nodes": unreadable,
    }
    return {key: value for key, value in detail.items() if value is not None}
