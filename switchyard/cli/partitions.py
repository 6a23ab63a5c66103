"""`switchyard partitions`."""

from typing import Annotated

import typer
from rich.filesize import decimal

from switchyard.cli.database import Rows, connected, whole_config
from switchyard.cli.options import AsJson, ConfigFile
from switchyard.cli.output import print_json
from switchyard.cli.table import print_table
from switchyard.config.units import parse_duration
from switchyard.errors import BadInput
from switchyard.ledger.queries import query

Ensure = Annotated[
    int | None,
    typer.Option(
        "--ensure",
        metavar="DAYS",
        min=0,
        help="Create partitions for this many days ahead.",
        show_default=False,
    ),
]
Drop = Annotated[
    str | None,
    typer.Option(
        "--drop-older-than",
        metavar="AGE",
        help="Drop partitions that ended this long ago, like 90d.",
        show_default=False,
    ),
]


def partitions(
    config: ConfigFile = None,
    ensure: Ensure = None,
    drop: Drop = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before dropping.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the ledger's partitions, create them ahead, drop old ones (never one with an open action).

    Example: switchyard partitions --ensure 30
    """
    settings = whole_config(config)
    with connected(settings) as connection:
        if ensure is not None:
            values = {"days": ensure, "interval": settings.partitions.interval}
            connection.execute(query("conductor", "ensure_partitions"), values)
        if drop is not None:
            _drop(connection, drop, yes, as_json)
        rows = connection.execute(query("look", "partitions")).fetchall()
    if as_json:
        print_json(rows)
        return
    for row in rows:
        row["size"] = decimal(int(row["bytes"] or 0))
    fields = "suffix=partition starts_at=from ends_at=to open_threads=open size"
    print_table(rows, fields, "There are no partitions: run `switchyard partitions --ensure 14`.")
    if rows:
        print(f"{float(rows[-1]['days_ahead']):.1f} days ahead.")


def _drop(connection: Rows, age: str, yes: bool, as_json: bool) -> None:
    seconds = _age(age)
    if not yes:
        typer.confirm(f"Drop the history that is older than {age}?", abort=True)
    results = connection.execute(query("decide", "drop"), {"seconds": seconds}).fetchall()
    if not as_json:
        print_table(results, "suffix=partition dropped reason=why_not", "Nothing is that old.")


def _age(given: str) -> float:
    try:
        return parse_duration(given)
    except ValueError as error:
        raise BadInput(f"--drop-older-than: {error}") from error
