"""What the tests of campaigns say often."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from uuid import UUID

from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from tests.integration.sets.graphs import settle
from tests.integration.waiting.joins import Connection, end
from tests.parts.database import Database

START = (
    "select switchyard.start_campaign(%s, '{}', %s, action_name => 'noop', callbacks => '[]', policy => %s)"
)


def start(
    connection: Connection, name: str = "spring", in_flight: int = 10, policy: str = "successful"
) -> UUID:
    [(uuid,)] = connection.execute(START, [name, in_flight, policy]).fetchall()
    return uuid  # type: ignore[no-any-return]


def items(ids: Iterable[object]) -> list[dict[str, Any]]:
    return [{"id": str(each), "parameters": {"scene": each}} for each in ids]


def feed(
    connection: Connection, campaign: UUID, page: list[dict[str, Any]], cursor: int = 0, last: bool = True
) -> int | None:
    """The page after that cursor; the next one is greater by one."""
    expected = {"page": cursor} if cursor else {}
    values = [campaign, Jsonb(expected), Jsonb(page), Jsonb({"page": cursor + 1}), last]
    [(added,)] = connection.execute("select switchyard.feed(%s, %s, %s, %s, %s)", values).fetchall()
    return added  # type: ignore[no-any-return]


def submit_items(connection: Connection) -> None:
    """As conductors do: until no full batch is left."""
    while connection.execute("select settled from switchyard.submit_items()").fetchall() != [(0,)]:
        pass


def members(database: Database, campaign: UUID, status: str = "PENDING") -> list[UUID]:
    rows = database.execute(
        "select t.action_uuid from switchyard.action a join switchyard.thread t using (action_uuid)"
        " where a.member_of = %s and t.status = %s order by 1",
        campaign,
        status,
    )
    return [uuid for (uuid,) in rows]


def run_to_the_end(database: Database, connection: Connection, campaign: UUID) -> None:
    while True:
        submit_items(connection)
        settle(connection)
        if not (found := members(database, campaign)):
            break
        end(connection, *found)
    submit_items(connection)
    settle(connection)


def row(database: Database, name: str = "spring") -> dict[str, Any]:
    with database.connect() as connection:
        cursor = connection.cursor(row_factory=dict_row)
        [found] = cursor.execute("select * from switchyard.campaigns where name = %s", [name]).fetchall()
    return found


def write_lines(path: Path, bodies: Iterable[object]) -> Path:
    path.write_text("\n".join(json.dumps(body) for body in bodies))
    return path
