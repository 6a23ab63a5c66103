"""Translate an execution as described by AWS into an observation."""

import json
import re
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from switchyard.backends.stepfunctions.redrive import redrives
from switchyard.errors import BadInput
from switchyard.execution import parse_name
from switchyard.process.exit import Exit
from switchyard.sources import Observation
from switchyard.status import Status

STATUSES = {
    "RUNNING": Status.RUNNING,
    "PENDING_REDRIVE": Status.RUNNING,
    "SUCCEEDED": Status.SUCCESSFUL,
    "FAILED": Status.FAILED,
    "TIMED_OUT": Status.TIMED_OUT,
    "ABORTED": Status.CANCELED,
}
_ARN = re.compile(r"arn:aws[a-z-]*:states:[a-z0-9-]+:[0-9]{12}:execution:[^\s:]{1,160}:([^\s:]{1,160})")
_EXIT_CODE = re.compile(r'"ExitCode"\s*:\s*(\d{1,3})\b')


class UnreadableEvent(BadInput):
    """The message is not a status change of one of our executions."""


def named_in(body: str) -> tuple[UUID, int, str]:
    """The uuid, run and ARN of the execution that a status-change event is about."""
    try:
        event = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise UnreadableEvent(f"not JSON: {error}") from None
    detail = event.get("detail") if isinstance(event, dict) else None
    arn = detail.get("executionArn") if isinstance(detail, dict) else None
    match = _ARN.fullmatch(arn) if isinstance(arn, str) else None
    if match is None:
        raise UnreadableEvent(
            "no Step Functions Execution Status Change event: detail.executionArn is missing"
        )
    named = parse_name(match[1])
    if named is None:
        raise UnreadableEvent(f"the execution {match[1]} was not started by Switchyard")
    return *named, match[0]


def observe(uuid: UUID, named: int, described: Mapping[str, Any], receipt: str | None = None) -> Observation:
    """The observation for a `describe_execution` response; `named` is the run in its name.

    An unknown status is treated as running.
    """
    run = named + redrives(described)
    status = STATUSES.get(str(described.get("status")), Status.RUNNING)
    code = _exit_code(described)
    return Observation(
        *(uuid, run, status, _error(described) if status.ended else None),
        fatal=code == Exit.BAD_INPUT,
        exit_code=code,
        output=_output(described),
        record=json.dumps(_plain(described), default=str).encode(),
        detail={"execution": str(described.get("executionArn", ""))},
        handle=receipt,
        written_in=None if run == named else named,
    )


def _error(described: Mapping[str, Any]) -> str | None:
    said = [str(described[name]) for name in ("error", "cause") if described.get(name)]
    return ": ".join(said) or None


def _exit_code(described: Mapping[str, Any]) -> int | None:
    """The exit code of a container: for failed ECS tasks, the cause is the task as JSON."""
    match = _EXIT_CODE.search(str(described.get("cause") or ""))
    return int(match[1]) if match else None


def _output(described: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The execution's output if it is an object; for workflows that write none to the store."""
    try:
        output = json.loads(described.get("output") or "null")
    except (ValueError, RecursionError):
        return None
    return output if isinstance(output, dict) else None


def _plain(described: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in described.items() if name != "ResponseMetadata"}
