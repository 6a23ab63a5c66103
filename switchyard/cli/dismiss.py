"""`switchyard dismiss`."""

from typing import Annotated

import typer

from switchyard.cli.database import Rows, configured, connected
from switchyard.cli.filters import Filter, filtered
from switchyard.cli.ids import SHOWN
from switchyard.cli.many import Decision, decide
from switchyard.cli.options import Actor, AsJson, ConfigFile, DryRun, Reason, Yes
from switchyard.cli.output import print_json
from switchyard.errors import BadInput
from switchyard.ledger.actor import actor
from switchyard.ledger.queries import query
from switchyard.status import ENDS, Status

DISMISS = Decision("dismiss", tuple(sorted(ENDS - {Status.SUCCESSFUL})), "dismissed", "were not in the inbox")
LARGEST = 2**63 - 1

Entries = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="ENTRY",
        help="What the inbox shows: numbers of entries, or ids of actions; or choose actions by filters.",
        show_default=False,
    ),
]


@filtered
def dismiss(
    entries: Entries = None,
    *,
    chosen: Filter,
    reason: Reason,
    config: ConfigFile = None,
    who: Actor = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Remove entries from the inbox; failed actions stay failed.

    Example: switchyard dismiss 17 …3c5b8329 --reason "accepted as lost"
    """
    numbers = [int(entry) for entry in entries or [] if _is_number(entry)]
    actions = [entry for entry in entries or [] if not _is_number(entry)]
    if numbers and (actions or not chosen.empty):
        raise BadInput("give numbers of entries, or actions, not both")
    with connected(configured(config)) as connection:
        if numbers:
            _dismiss_entries(connection, numbers, who or actor(), reason, dry_run, as_json)
        else:
            decide(
                connection, DISMISS, actions, chosen,
                who=who, reason=reason, dry_run=dry_run, yes=yes, as_json=as_json,
            )  # fmt: skip


def _is_number(entry: str) -> bool:
    """The number of an entry; the end of an id has as many digits as tables show of it."""
    return entry.isascii() and entry.isdigit() and len(entry) != SHOWN and int(entry) <= LARGEST


def _dismiss_entries(
    connection: Rows, numbers: list[int], who: str, reason: str, dry_run: bool, as_json: bool
) -> None:
    if dry_run:
        print_json(numbers) if as_json else print(f"{len(numbers):,} would be dismissed; nothing was done.")
        return
    results = []
    for number in numbers:
        values = {"entry": number, "actor": who, "reason": reason}
        row = connection.execute(query("decide", "dismiss_entry"), values).fetchone()
        results.append({"entry_id": number, "result": bool(row and row["changed"])})
    if as_json:
        print_json(results)
        return
    for each in results:
        done = "is out of the inbox" if each["result"] else "was not in the inbox"
        print(f"{each['entry_id']} {done}.")
