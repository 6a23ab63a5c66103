"""`switchyard lanes`."""

from typing import Annotated

import typer

from switchyard.cli.complete import action_names
from switchyard.cli.database import configured, connected
from switchyard.cli.options import AsJson, ConfigFile
from switchyard.cli.output import print_json
from switchyard.cli.table import print_table
from switchyard.ledger.queries import query

FIELDS = (
    "action_name=name workflow lane open in_flight max_in_flight=limit rate breaker weight state "
    "waiting_since"
)

Name = Annotated[
    str | None,
    typer.Argument(help="Only this action name.", show_default=False, autocompletion=action_names),
]


def lanes(
    name: Name = None,
    config: ConfigFile = None,
    everything: Annotated[bool, typer.Option("--all", help="Include lanes with nothing open.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="At most this many lanes.")] = 100,
    as_json: AsJson = False,
) -> None:
    """Show the lanes of action names with limits: what is open and in flight, and what holds each back.

    Example: switchyard lanes webhook --all
    """
    with connected(configured(config)) as connection:
        values = {"name": name, "all": everything, "limit": limit}
        rows = connection.execute(query("look", "lanes"), values).fetchall()
    if as_json:
        print_json(rows)
        return
    print_table(rows, FIELDS, "No lanes: no action name has lanes or limits, or nothing of them is open.")
