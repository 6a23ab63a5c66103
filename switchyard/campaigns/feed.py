"""Read a source into a campaign. The cursor is stored only in the database."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.types.json import Jsonb

from switchyard.campaigns.page import Source
from switchyard.errors import BadInput
from switchyard.ledger.queries import query

Rows = Connection[dict[str, Any]]


def feed(connection: Rows, campaign: UUID, source: Source) -> Iterator[dict[str, Any]]:
    """Read all pages; yields the campaign's row after each.

    No transaction is open while a page is read. If this is killed, the next call continues from the stored
    cursor. If two run at once, the second's page is refused and it continues from the first's cursor.
    """
    while (row := _position(connection, campaign)) and not row["complete"]:
        if row["ended"]:
            raise BadInput(f"the campaign has ended {row['status']}")
        try:
            page = source.page(row["cursor"])
        except Exception as error:
            connection.execute(
                query("campaigns", "report_source"), {"campaign": campaign, "error": str(error)}
            )
            raise
        connection.execute(
            query("campaigns", "feed"),
            {
                "campaign": campaign,
                "expected": Jsonb(row["cursor"]),
                "items": Jsonb(page.items),
                "next": Jsonb(page.cursor),
                "last": page.last,
            },
        )
        yield _position(connection, campaign)


def _position(connection: Rows, campaign: UUID) -> dict[str, Any]:
    [row] = connection.execute(query("campaigns", "position"), {"campaign": campaign}).fetchall()
    return row
