"""`switchyard events`."""

from switchyard.cli.database import configured, connected
from switchyard.cli.ids import identified
from switchyard.cli.options import ActionId, AsJson, ConfigFile
from switchyard.cli.output import print_json
from switchyard.cli.table import print_table
from switchyard.errors import BadInput
from switchyard.ledger.queries import query


def events(action: ActionId, config: ConfigFile = None, as_json: AsJson = False) -> None:
    """Show every event of one action, in the order in which they were recorded.

    Example: switchyard events 0197a0f3-8c1e-7a3b-9d2e-1f4c5b6a7d8e
    """
    with connected(configured(config)) as connection:
        uuid = identified(connection, action)
        if not connection.execute(query("look", "action"), {"uuid": uuid}).fetchall():
            raise BadInput(f"there is no action {uuid}")
        rows = connection.execute(query("look", "events"), {"uuid": uuid}).fetchall()
    if as_json:
        print_json(rows)
        return
    for row in rows:
        row["ignored"] = "ignored" if row["ignored"] else None
    fields = "event_time=time status run attempt source ignored error detail"
    print_table(rows, fields, "No events yet: it waits to be claimed.", folded=True)
