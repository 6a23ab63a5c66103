"""`switchyard inbox`."""

from switchyard.cli.database import configured, connected
from switchyard.cli.ids import short
from switchyard.cli.options import AsJson, ConfigFile, Limit
from switchyard.cli.output import print_json
from switchyard.cli.table import print_table
from switchyard.ledger.queries import query

FIELDS = "since entry kind subject=name status run idempotency_key=key correlation_id=correlation error note"


def inbox(config: ConfigFile = None, limit: Limit = 100, as_json: AsJson = False) -> None:
    """Show what waits for a decision: failed actions, lost workers, messages that could not be read.

    Example: switchyard inbox --json
    """
    with connected(configured(config)) as connection:
        rows = connection.execute(query("look", "inbox"), {"limit": limit + 1}).fetchall()
        more = connection.execute(query("look", "inbox_size")).fetchone() if len(rows) > limit else None
    rows = rows[:limit]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        row["entry"] = short(row["action_uuid"]) if row["action_uuid"] else str(row["entry_id"])
        row["kind"] = None if row["action_uuid"] else row["kind"]
    print_table(rows, FIELDS, "The inbox is empty.")
    if more is not None:
        print(f"The oldest {limit:,} of {more['size']:,}; --limit N shows more.")
