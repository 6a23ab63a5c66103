"""`switchyard inbox`."""

from typing import Annotated

import typer

from switchyard.cli.database import Rows, configured, connected
from switchyard.cli.ids import short
from switchyard.cli.options import AsJson, ConfigFile, Limit
from switchyard.cli.output import print_json
from switchyard.cli.table import print_table
from switchyard.ledger.queries import query

FIELDS = "since entry kind subject=name status run idempotency_key=key correlation_id=correlation error note"
CAUSES = "count trend first_at=first last_at=last action_names=names example cause"

ByCause = Annotated[
    bool, typer.Option("--by-cause", help="Failed actions by cause: how many, since when, an example.")
]


def inbox(
    config: ConfigFile = None, limit: Limit = 100, by_cause: ByCause = False, as_json: AsJson = False
) -> None:
    """Show what waits for a decision: failed actions, lost workers, messages that could not be read.

    Example: switchyard inbox --by-cause
    """
    with connected(configured(config)) as connection:
        if by_cause:
            _causes(connection, limit, as_json)
            return
        rows = connection.execute(query("look", "inbox"), {"limit": limit + 1}).fetchall()
        more = connection.execute(query("look", "inbox_size")).fetchone() if len(rows) > limit else None
    rows = rows[:limit]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        row["entry"] = short(row["action_uuid"]) if row["action_uuid"] else str(row["entry_id"])
        row["kind"] = None if row["action_uuid"] else row["kind"]
        if (
            row["note"] == row["error"]
        ):  # the note of a failure is the first line of its error, unless it has one
            row["note"] = None
    print_table(rows, FIELDS, "The inbox is empty.")
    if more is not None:
        print(f"The oldest {limit:,} of {more['size']:,}; --limit N shows more.")


def _causes(connection: Rows, limit: int, as_json: bool) -> None:
    rows = connection.execute(query("look", "causes"), {"limit": limit + 1}).fetchall()
    if as_json:
        print_json(rows[:limit])
        return
    for row in rows:
        row["action_names"] = ", ".join(row["action_names"])
    print_table(rows[:limit], CAUSES, "No failed action is in the inbox.", folded=True)
    if len(rows) > limit:
        print(f"The {limit:,} most frequent; --limit N shows more.")
