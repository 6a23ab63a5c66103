"""`switchyard campaign start`: starts a campaign and reads its source into the database."""

from typing import Annotated, Any

import typer
from psycopg.types.json import Jsonb

from switchyard.campaigns.feed import feed
from switchyard.cli.campaign_screen import described
from switchyard.cli.campaign_source import (
    FromFile,
    FromSql,
    FromStac,
    Headers,
    Named,
    Search,
    json_of,
    source_of,
)
from switchyard.cli.complete import action_names, workflows
from switchyard.cli.database import configured, connected
from switchyard.cli.options import AsJson, ConfigFile
from switchyard.cli.output import print_json, printable
from switchyard.errors import BadInput
from switchyard.ledger.queries import query

Name = Annotated[str, typer.Argument(help="The campaign.")]
Workflow = Annotated[
    str | None, typer.Option("--workflow", "-w", autocompletion=workflows, help="The workflow to run.")
]
Action = Annotated[
    str | None, typer.Option("--action", autocompletion=action_names, help="An action name instead.")
]
InFlight = Annotated[int, typer.Option(min=1, max=100_000, help="How many items may be open at once.")]
Lane = Annotated[str | None, typer.Option(help="The lane of every item.")]
Priority = Annotated[int, typer.Option(help="Priority of the items; by default after other actions (100).")]
Parameters = Annotated[
    str, typer.Option("--parameters", "-p", metavar="JSON", help="Parameters added to those of every item.")
]
Callbacks = Annotated[
    str | None, typer.Option(metavar="JSON", help="Callbacks for the end of the whole campaign, a JSON list.")
]
Policy = Annotated[str, typer.Option(help="successful: one failure fails the campaign; ended: it does not.")]


def start(
    name: Name,
    workflow: Workflow = None,
    action: Action = None,
    from_file: FromFile = None,
    from_sql: FromSql = None,
    from_stac: FromStac = None,
    search: Search = None,
    header: Headers = None,
    in_flight: InFlight = 100,
    lane: Lane = None,
    priority: Priority = 200,
    parameters: Parameters = "{}",
    callbacks: Callbacks = None,
    policy: Policy = "successful",
    config: ConfigFile = None,
    as_json: AsJson = False,
) -> None:
    """Start a campaign and read its source; after an interruption, run it again to continue.

    Conductors submit the items, also after this command has ended.

    Example: switchyard campaign start spring --workflow ndvi --from-file scenes.jsonl --in-flight 200
    """
    values = {
        "name": name, "in_flight": in_flight, "action_name": action, "workflow": workflow, "lane": lane,
        "parameters": Jsonb(json_of("--parameters", parameters)), "priority": priority, "policy": policy,
        "callbacks": None if callbacks is None else Jsonb(json_of("--callbacks", callbacks)),
    }  # fmt: skip
    with connected(configured(config)) as connection:
        source = source_of(connection, Named(from_file, from_sql, from_stac, search, header))
        values["source"] = Jsonb(source.description())
        [found] = connection.execute(query("campaigns", "start"), values).fetchall()
        for row in feed(connection, found["action_uuid"], source):
            if not as_json:
                print(f"\r{row['items']:,} items read", end="", flush=True)
        row = campaign_row(connection, name)
    _print(row, as_json)


def campaign_row(connection: Any, name: str) -> dict[str, Any]:
    """The campaign's row of the view; BadInput where there is none."""
    row: dict[str, Any] | None = connection.execute(query("campaigns", "one"), {"name": name}).fetchone()
    if row is None:
        raise BadInput(f"there is no campaign {name!r}: `switchyard campaign list` shows them")
    return row


def _print(row: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(row)
        return
    print()
    for line in described(row):
        print(printable(line))
