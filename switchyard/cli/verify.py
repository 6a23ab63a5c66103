"""`switchyard verify`."""

import typer

from switchyard.cli.database import configured, connected
from switchyard.cli.options import AsJson, ConfigFile
from switchyard.cli.output import print_json
from switchyard.cli.table import print_table
from switchyard.ledger.queries import query
from switchyard.process.exit import Exit


def verify(config: ConfigFile = None, as_json: AsJson = False) -> None:
    """Recompute every action's state from its events and compare; exit 1 where they differ.

    Example: switchyard verify --json
    """
    with connected(configured(config)) as connection:
        connection.execute(query("look", "patiently"))
        rows = connection.execute(query("look", "verify")).fetchall()
    if as_json:
        print_json(rows)
    else:
        fields = "action_uuid=action problem expected=by_its_events actual=in_the_table"
        print_table(rows, fields, "The ledger agrees with its events.")
    if rows:
        raise typer.Exit(Exit.FAILURE)
