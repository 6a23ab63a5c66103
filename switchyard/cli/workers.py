"""`switchyard workers`."""

from typing import Annotated

import typer

from switchyard.cli.database import configured, connected
from switchyard.cli.options import AsJson, ConfigFile
from switchyard.cli.output import print_json, printable
from switchyard.cli.table import print_table
from switchyard.ledger.queries import query

FIELDS = (
    "worker_id=worker kind action_name=name host zone state started_at=started beat_at=heartbeat done failed "
    "rate=per_second detail"
)


def workers(
    config: ConfigFile = None,
    everything: Annotated[bool, typer.Option("--all", help="Include workers that have ended.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the workers of all programs: state, throughput, and which are lost.

    Example: switchyard workers --all
    """
    with connected(configured(config)) as connection:
        rows = connection.execute(query("look", "fleet"), {"all": everything}).fetchall()
        paused = connection.execute(query("look", "paused")).fetchall()
    if as_json:
        print_json({"workers": rows, "paused": paused})
        return
    for row in rows:
        row["detail"] = " ".join(f"{key}={value}" for key, value in (row["detail"] or {}).items())
    print_table(rows, FIELDS, "No workers.")
    for name in paused:
        print(printable(f"\n{name['action_name']} is paused by {name['actor']}: {name['reason']}"))
    if len({row["config_hash"] for row in rows if row["state"] == "running" and row["config_hash"]}) > 1:
        print(
            "\nThe running workers do not share one configuration: compare the output of `switchyard check`."
        )
