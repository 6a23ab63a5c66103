"""`switchyard partitions` and `verify`: keeping the ledger."""

from typing import Annotated

import typer
from rich.filesize import decimal

from switchyard.cli.database import config_or_default, connected
from switchyard.cli.options import AsJson, ConfigFile
from switchyard.cli.output import print_json, print_rows
from switchyard.config.units import parse_duration
from switchyard.errors import BadInput
from switchyard.ledger.queries import query
from switchyard.process.exit import Exit


def partitions(
    config: ConfigFile = None,
    ensure: Annotated[
        int | None,
        typer.Option(
            "--ensure", metavar="DAYS", min=0, help="Make those for so many days ahead.", show_default=False
        ),
    ] = None,
    drop: Annotated[
        str | None,
        typer.Option(
            "--drop-older-than",
            metavar="AGE",
            help="Drop those that ended so long ago, as in 90d.",
            show_default=False,
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before dropping.")] = False,
    as_json: AsJson = False,
) -> None:
    """The ledger's partitions: list them, make them ahead, drop old ones (never one with an open thread).

    Example: switchyard partitions --ensure 30
    """
    settings = config_or_default(config)
    with connected(config) as connection:
        if ensure is not None:
            connection.execute(query("decide", "interval"), {"interval": settings.partitions.interval})
            connection.execute(query("decide", "ensure"), {"days": ensure})
        if drop is not None:
            seconds = _age(drop)
            if not yes:
                typer.confirm(f"Drop the history that is older than {drop}?", abort=True)
            results = connection.execute(query("decide", "drop"), {"seconds": seconds}).fetchall()
            if not as_json:
                print_rows(
                    results,
                    {"suffix": "partition", "dropped": "dropped", "reason": "why not"},
                    "Nothing is that old.",
                )
        rows = connection.execute(query("look", "partitions")).fetchall()
    if as_json:
        print_json(rows)
        return
    for row in rows:
        row["size"] = decimal(int(row["bytes"] or 0))
    columns = {
        "suffix": "partition",
        "starts_at": "from",
        "ends_at": "to",
        "open_threads": "open",
        "size": "size",
    }
    print_rows(rows, columns, "There are no partitions: run `switchyard partitions --ensure 14`.")
    if rows:
        print(f"{float(rows[-1]['days_ahead']):.1f} days ahead.")


def verify(config: ConfigFile = None, as_json: AsJson = False) -> None:
    """Fold every event log and compare it with its thread; exit 1 where the ledger contradicts itself.

    Example: switchyard verify --json
    """
    with connected(config) as connection:
        connection.execute("set statement_timeout = 0")
        rows = connection.execute(query("look", "verify")).fetchall()
    if as_json:
        print_json(rows)
    else:
        columns = {
            "action_uuid": "action",
            "problem": "problem",
            "expected": "by its events",
            "actual": "in the table",
        }
        print_rows(rows, columns, "The ledger agrees with its events.")
    if rows:
        raise typer.Exit(Exit.FAILURE)


def _age(given: str) -> float:
    try:
        return parse_duration(given)
    except ValueError as error:
        raise BadInput(f"--drop-older-than: {error}") from error
