"""`switchyard campaign`: start, list, show, pause, resume, cancel, retrigger, gaps."""

from typing import Annotated

import typer

from switchyard.cli.campaign_decisions import cancel, pause, resume, retrigger
from switchyard.cli.campaign_gaps import gaps
from switchyard.cli.campaign_screen import live, print_campaign, print_campaigns
from switchyard.cli.campaign_start import campaign_row, start
from switchyard.cli.database import configured, connected
from switchyard.cli.options import AsJson, ConfigFile
from switchyard.cli.output import print_json
from switchyard.ledger.queries import query

Name = Annotated[str, typer.Argument(help="The campaign.")]


def campaign() -> None:
    """Run a workflow over a file, a query or a catalogue, a limited number of items at a time, as one action.

    Example: switchyard campaign start spring --workflow ndvi --from-file scenes.jsonl --in-flight 200
    """


def list_(config: ConfigFile = None, as_json: AsJson = False) -> None:
    """List the campaigns and how far each is.

    Example: switchyard campaign list
    """
    with connected(configured(config)) as connection:
        rows = connection.execute(query("campaigns", "all")).fetchall()
    print_json(rows) if as_json else print_campaigns(rows)


def show(
    name: Name,
    watch: Annotated[
        bool, typer.Option("--watch", help="Show a progress bar until the campaign ends.")
    ] = False,
    config: ConfigFile = None,
    as_json: AsJson = False,
) -> None:
    """Show one campaign: progress, rate, time left, and its failures by cause.

    Example: switchyard campaign show spring --watch
    """
    with connected(configured(config)) as connection:
        row = campaign_row(connection, name)
        if watch and not as_json:
            live(lambda: campaign_row(connection, name))
            row = campaign_row(connection, name)
        failures = connection.execute(query("campaigns", "failures"), {"name": name}).fetchall()
    if as_json:
        print_json({**row, "failures": failures})
    else:
        print_campaign(row, failures)


VERBS = {
    "start": start,
    "list": list_,
    "show": show,
    "pause": pause,
    "resume": resume,
    "cancel": cancel,
    "retrigger": retrigger,
    "gaps": gaps,
}
