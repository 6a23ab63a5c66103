"""`switchyard why`."""

from switchyard.cli.database import configured, connected
from switchyard.cli.ids import identified
from switchyard.cli.options import ActionId, AsJson, ConfigFile
from switchyard.cli.output import print_json, printable
from switchyard.ledger.queries import query


def why(uuid: ActionId, config: ConfigFile = None, as_json: AsJson = False) -> None:
    """Say in one sentence why an action has not ended, and when it probably will.

    Example: switchyard why …3c5b8329
    """
    with connected(configured(config)) as connection:
        values = {"uuid": identified(connection, uuid)}
        [row] = connection.execute(query("look", "why"), values).fetchall()
    if as_json:
        print_json(row["detail"])
    else:
        print(printable(row["detail"]["sentence"]))
