"""`switchyard retrigger` and `switchyard cancel`."""

from typing import Annotated

import typer

from switchyard.cli.causes import rate_of
from switchyard.cli.database import configured, connected
from switchyard.cli.filters import Filter, filtered
from switchyard.cli.many import Decision, decide
from switchyard.cli.options import ActionIds, Actor, AsJson, ConfigFile, DryRun, From, Reason, ResumeFrom, Yes
from switchyard.status import ENDS, Status

RETRIGGER = Decision("retrigger", tuple(sorted(ENDS - {Status.SUCCESSFUL})), "retriggered")
CANCEL = Decision(
    "cancel", tuple(sorted(set(Status) - ENDS - {Status.INFO})), "canceled", "had ended already"
)


Rate = Annotated[
    str | None,
    typer.Option(
        metavar="RATE",
        help="Retrigger at this pace, like 10/s; stops when the cause of the failures returns.",
        show_default=False,
    ),
]


@filtered
def retrigger(
    uuids: ActionIds = None,
    *,
    chosen: Filter,
    reason: Reason,
    resume_from: From = ResumeFrom.FAILED,
    rate: Rate = None,
    config: ConfigFile = None,
    who: Actor = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Run actions again that ended without success, each as a new run.

    Example: switchyard retrigger --cause "answered 503" --rate 10/s -m "partner is back" --dry-run
    """
    per_second = rate_of(rate)
    with connected(configured(config)) as connection:
        decide(
            connection, RETRIGGER._replace(values={"resume_from": resume_from}), uuids, chosen,
            who=who, reason=reason, dry_run=dry_run, yes=yes, as_json=as_json, rate=per_second,
        )  # fmt: skip


@filtered
def cancel(
    uuids: ActionIds = None,
    *,
    chosen: Filter,
    reason: Reason,
    config: ConfigFile = None,
    who: Actor = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Cancel actions that have not ended; what runs at a backend is stopped there.

    Example: switchyard cancel 0197a0f3-8c1e-7a3b-9d2e-1f4c5b6a7d8e --reason "wrong input"
    """
    with connected(configured(config)) as connection:
        decide(
            connection, CANCEL, uuids, chosen,
            who=who, reason=reason, dry_run=dry_run, yes=yes, as_json=as_json,
        )  # fmt: skip
