"""`switchyard doctor`."""

from dataclasses import asdict

import typer
from rich.text import Text

from switchyard.cli.database import configured, connected
from switchyard.cli.options import AsJson, ConfigFile
from switchyard.cli.output import console, print_json
from switchyard.ledger.doctor import examine
from switchyard.process.exit import Exit

MARKS = {"good": ("ok", "green"), "warning": ("look", "yellow"), "bad": ("bad", "bold red")}


def doctor(config: ConfigFile = None, as_json: AsJson = False) -> None:
    """Check the server, its settings, the connection, privileges, clocks, migrations and partitions.

    Example: switchyard doctor -c /etc/switchyard.yaml
    """
    settings = configured(config)
    with connected(settings) as connection:
        findings = list(examine(connection, settings.database.conninfo()))
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            word, style = MARKS[finding.state]
            console().print(Text.assemble((f"{word:<5}", style), f"{finding.check:<14}{finding.found}"))
            if finding.advice:
                console().print(Text(f"{'':<19}{finding.advice}", style="bold"))
    if any(finding.state == "bad" for finding in findings):
        raise typer.Exit(Exit.FAILURE)
