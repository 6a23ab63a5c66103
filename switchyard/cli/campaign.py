"""`switchyard campaign`: start, list, show, pause, resume, cancel, retrigger, gaps."""

from typing import Annotated

import typer

from switchyard.cli.campaign_decisions import cancel, pause, resume, retrigger
from switchyard.cli.campaign_gaps import gaps
from switchyard.cli.campaign_screen import described, live
from switchyard.cli.campaign_start import campaign_row, start
from switchyard.cli.database import configured, connected
from switchyard.cli.options import AsJson, ConfigFile
from switchyard.cli.output import print_json, printable
from switchyard.cli.table import print_table
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
    if as_json:
        print_json(rows)
        return
    for row in rows:
        row["what"] = row["workflow"] or row["action_name"]
        row["state"] = "paused" if row["paused_at"] and not row["ended_at"] else row["status"]
    fields = "name what state items waiting open successful unsuccessful=failed created_at=started"
    print_table(rows, fields, "There are no campaigns: `switchyard campaign start` begins one.")


def show(
    name: Name,
    watch: Annotated[bool, typer.Option("--watch", help="Stay, with a progress bar, until it ends.")] = False,
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
        return
    for line in described(row):
        print(printable(line))
    if failures:
        print()
        print_table(failures, "failures cause example", "")


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
