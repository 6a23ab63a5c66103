"""`switchyard list`."""

from switchyard.cli.database import configured, connected
from switchyard.cli.filters import Filter, filtered
from switchyard.cli.options import AsJson, ConfigFile, Limit
from switchyard.cli.output import print_json
from switchyard.cli.table import print_table
from switchyard.ledger.queries import query

FIELDS = (
    "action_uuid=action created_at=submitted action_name=name workflow status run attempt "
    "idempotency_key=key correlation_id=correlation error"
)


@filtered
def list_(*, chosen: Filter, config: ConfigFile = None, limit: Limit = 50, as_json: AsJson = False) -> None:
    """List actions, the newest first.

    Example: switchyard list --workflow nutrient --status failed --since 2d
    """
    with connected(configured(config)) as connection:
        rows = connection.execute(query("look", "list"), chosen.values(limit + 1)).fetchall()
    if as_json:
        print_json(rows[:limit])
        return
    print_table(rows[:limit], FIELDS, "No action matches.")
    if len(rows) > limit:
        print(f"The newest {limit:,}; there are more: --limit N shows more, filters choose.")
