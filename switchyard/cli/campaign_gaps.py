"""`switchyard campaign gaps`: items of the source that the campaign has not completed."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from switchyard.campaigns.page import Source
from switchyard.cli.campaign_source import FromFile, FromSql, FromStac, Headers, Named, Search, source_of
from switchyard.cli.database import configured, connected
from switchyard.cli.options import AsJson, ConfigFile
from switchyard.cli.output import print_json_list
from switchyard.cli.table import print_table
from switchyard.errors import BadInput
from switchyard.ledger.queries import query

MOST_PAGES = 100_000


def gaps(
    name: Annotated[str, typer.Argument(help="The campaign.")],
    from_file: FromFile = None,
    from_sql: FromSql = None,
    from_stac: FromStac = None,
    search: Search = None,
    header: Headers = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
) -> None:
    """Read the source again, and list its items that the campaign lacks or that were not successful.

    Example: switchyard campaign gaps spring --from-file scenes.jsonl
    """
    with connected(configured(config)) as connection:
        if connection.execute(query("campaigns", "one"), {"name": name}).fetchone() is None:
            raise BadInput(f"there is no campaign {name!r}: `switchyard campaign list` shows them")
        source = source_of(connection, Named(from_file, from_sql, from_stac, search, header))
        found = _gaps(connection, name, source)
        if as_json:
            print_json_list(found)
            return
        rows = list(found)
    print_table(rows, "id state action_uuid=action", "There are no gaps.")


def _gaps(connection: Any, name: str, source: Source) -> Iterator[dict[str, Any]]:
    cursor: dict[str, Any] = {}
    for _ in range(MOST_PAGES):
        page = source.page(cursor)
        ids = [each["id"] for each in page.items if each]
        yield from connection.execute(query("campaigns", "missing"), {"name": name, "ids": ids}).fetchall()
        if page.last or page.cursor == cursor:
            return
        cursor = page.cursor
