"""Finds the run of an execution, and how a run continues the previous one.

A redrive continues an execution from the step that failed. The execution's name is unchanged and its redrives
are counted, so its run is the run in its name plus its redrives: a run is only redriven from the run right
before. A redrive from the console opens no run; the next retrigger adopts it.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any
from uuid import UUID

from switchyard.execution import name_of

MOST_REDRIVES = 20  # older names are not looked up; AWS allows 1,000
Describe = Callable[[str], Mapping[str, Any] | None]


class NotRedriven(Exception):  # noqa: N818 - no error: the run starts from the beginning
    """Nothing can be redriven; the message gives the reason."""


def redrives(described: Mapping[str, Any]) -> int:
    """The number of redrives of an execution."""
    count = described.get("redriveCount")
    return count if isinstance(count, int) and count > 0 else 0


def names_of(uuid: UUID, run: int) -> Iterator[tuple[int, str]]:
    """The names that an execution of that run may have, with the runs of these names; its own comes first."""
    for named in range(run, max(0, run - MOST_REDRIVES - 1), -1):
        yield named, name_of(uuid, named)


def execution_arn(machine: str, name: str) -> str:
    """The ARN of the execution with that name."""
    return f"{machine.replace(':stateMachine:', ':execution:', 1)}:{name}"


def to_redrive(describe: Describe, machine: str, uuid: UUID, run: int) -> tuple[str, bool]:
    """The execution to continue, and whether that was done already, by an attempt that got no response."""
    for named, name in names_of(uuid, run):
        arn = execution_arn(machine, name)
        described = describe(arn)
        if described is None:
            continue
        reached = named + redrives(described)
        if reached == run:
            return arn, True
        if reached != run - 1:
            raise NotRedriven(f"the last execution that is there is of run {reached}")
        if described.get("redriveStatus") != "REDRIVABLE":
            raise NotRedriven(
                str(described.get("redriveStatusReason") or "the execution cannot be redriven")[:500]
            )
        return arn, False
    raise NotRedriven("no earlier execution is there")
