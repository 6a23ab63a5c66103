"""`switchyard retrigger` and `switchyard cancel`."""

from switchyard.cli.database import configured, connected
from switchyard.cli.filters import Filter, filtered
from switchyard.cli.many import Decision, decide
from switchyard.cli.options import ActionIds, Actor, AsJson, ConfigFile, DryRun, Reason, Yes
from switchyard.status import ENDS, Status

RETRIGGER = Decision("retrigger", tuple(sorted(ENDS - {Status.SUCCESSFUL})), "retriggered")
CANCEL = Decision(
    "cancel", tuple(sorted(set(Status) - ENDS - {Status.INFO})), "canceled", "had ended already"
)


@filtered
def retrigger(
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
    """Run actions again that ended without success, each as a new run.

    Example: switchyard retrigger --name webhook --status failed --since 1d -m "partner is back" --dry-run
    """
    with connected(configured(config)) as connection:
        decide(
            connection, RETRIGGER, uuids, chosen,
            who=who, reason=reason, dry_run=dry_run, yes=yes, as_json=as_json,
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
