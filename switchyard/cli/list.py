"""`switchyard list`."""

import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import typer

from switchyard.cli.causes import with_whole_cause
from switchyard.cli.database import configured, connected
from switchyard.cli.filters import Filter, filtered
from switchyard.cli.ids import identified, short
from switchyard.cli.options import AsJson, ConfigFile, Limit
from switchyard.cli.output import local, print_json
from switchyard.cli.table import print_table
from switchyard.ledger.queries import query

FIELDS = (
    "action_uuid=action created_at=submitted action_name=name workflow status run attempt "
    "idempotency_key=key correlation_id=correlation error"
)


DAYS = 30  # how far back it looks where nothing else is given

Before = Annotated[
    str | None,
    typer.Option(
        metavar="ACTION", help="The next page: those submitted before this action.", show_default=False
    ),
]


@filtered
def list_(
    *,
    chosen: Filter,
    before: Before = None,
    config: ConfigFile = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List actions, the newest first, and how far back they were searched.

    Example: switchyard list --workflow ndvi --where '$.scene == "S2A"' --since 2d
    """
    with connected(configured(config)) as connection:
        whole = with_whole_cause(connection, chosen)
        last = identified(connection, before) if before else None
        since = whole.since or datetime.now(UTC) - timedelta(days=DAYS)
        window = replace(whole, since=since, before=last)
        rows = connection.execute(query("look", "list"), window.values(limit + 1)).fetchall()
        [ledger] = connection.execute(query("look", "oldest")).fetchall()
    if as_json:
        print_json(rows[:limit])
    else:
        print_table(rows[:limit], FIELDS, "No action matches.")
    print(_searched(rows, limit, since, ledger["oldest"]), file=sys.stderr if as_json else sys.stdout)


def _searched(rows: list[dict[str, Any]], limit: int, since: datetime, oldest: datetime | None) -> str:
    if len(rows) > limit:
        last = rows[limit - 1]
        return (
            f"The newest {limit:,}, back to {local(last['created_at'])}; there are more: "
            f"--limit N shows more, --before {short(last['action_uuid'])} the next."
        )
    if oldest is None or since <= oldest:
        return "Searched the whole ledger."
    return f"Searched back to {local(since)}; --since looks further."
