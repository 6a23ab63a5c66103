"""Which run an execution is of, and how a run continues the one before it.

A redrive continues an execution from the step that failed. It keeps its name and counts its redrives, so its
run is that of its name and as many more as it was redriven: a run is redriven only from the one right before.
Whoever redrives one in the console opens no run; the next retrigger adopts it.
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
    """How often it was redriven."""
    count = described.get("redriveCount")
    return count if isinstance(count, int) and count > 0 else 0


def names_of(uuid: UUID, run: int) -> Iterator[tuple[int, str]]:
    """The names that an execution of that run may have, with the runs of these names: its own first."""
    for named in range(run, max(0, run - MOST_REDRIVES - 1), -1):
        yield named, name_of(uuid, named)


def execution_arn(machine: str, name: str) -> str:
    """What AWS calls the execution of that name."""
    return f"{machine.replace(':stateMachine:', ':execution:', 1)}:{name}"


def to_redrive(describe: Describe, machine: str, uuid: UUID, run: int) -> tuple[str, bool]:
    """The execution that this run continues, and whether it was redriven already: an answer may be lost."""
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
