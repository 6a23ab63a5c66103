"""A SQL query with a column `id`, read in the order of the ids, so that it can be continued after any id."""

import json
from typing import Any

from psycopg import Connection, sql

from switchyard.campaigns.page import REJECTED, Cursor, Page, item
from switchyard.ledger.queries import query

ROWS = 1000


class QuerySource:
    """Runs the query with the rights of the connection's user, in read-only transactions."""

    def __init__(self, connection: Connection[dict[str, Any]], text: str) -> None:
        self._connection = connection
        self._text = text.strip().rstrip(";")
        # The query is the user's own, run as that user; psycopg turns %% into %.
        template = sql.SQL(query("campaigns", "rows"))
        self._statement = template.format(query=sql.SQL(self._text.replace("%", "%%")))

    def description(self) -> dict[str, Any]:
        """The query."""
        return {"sql": self._text}

    def page(self, cursor: Cursor) -> Page:
        """The rows after that id."""
        with self._connection.transaction():
            self._connection.execute("set transaction read only")
            values = {"after": cursor.get("after", ""), "limit": ROWS}
            rows = self._connection.execute(self._statement, values).fetchall()
        items = [item(row["id"], json.loads(row["body"])) if row["id"] else REJECTED for row in rows]
        after = rows[-1]["id"] if rows else cursor.get("after", "")
        return Page(items, {"after": after}, last=len(rows) < ROWS)
