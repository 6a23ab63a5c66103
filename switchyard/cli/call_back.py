"""`switchyard call-back`."""

from switchyard.cli.database import configured, connected
from switchyard.cli.filters import Filter, filtered
from switchyard.cli.many import Decision, decide
from switchyard.cli.options import ActionIds, Actor, AsJson, ConfigFile, DryRun, Reason, Yes
from switchyard.status import ENDS

CALL_BACK = Decision("call back", tuple(sorted(ENDS)), "called back", "had callbacks due already")


@filtered
def call_back(
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
    """Insert the callbacks of ended actions again, as configured now.

    Example: switchyard call-back --workflow nutrient --since 1d -m "the address was wrong" --dry-run
    """
    with connected(configured(config)) as connection:
        decide(
            connection, CALL_BACK, uuids, chosen,
            who=who, reason=reason, dry_run=dry_run, yes=yes, as_json=as_json,
        )  # fmt: skip
