"""What the tests of sets say often."""

from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from tests.integration.waiting.joins import Connection
from tests.parts.database import Database

Ids = dict[str | None, UUID]


def nodes(**after: str) -> dict[str, Any]:
    """A graph of no-ops: each name with the names that it waits for."""
    return {
        name: {"action_name": "noop", "after": dependencies.split()} for name, dependencies in after.items()
    }


def submit_graph(connection: Connection, graph: dict[str, Any]) -> Ids:
    """The ids by name; that of the graph under None."""
    return dict(connection.execute("select * from switchyard.submit_graph(%s)", [Jsonb(graph)]).fetchall())


def settle(connection: Connection) -> int:
    """Settle waiters and sets until nothing changes; how many are busy."""
    while True:
        [(settled, busy)] = connection.execute(
            "select w.settled + s.settled, w.busy + s.busy from switchyard.settle_waiting() as w, switchyard.settle_sets() as s"
        ).fetchall()
        if not settled:
            return int(busy)


def ends(database: Database, uuid: UUID) -> list[tuple[int, str, str | None]]:
    """Run, status and error of each end that counted."""
    return database.execute(
        "select run, status::text, error from switchyard.event"
        " where action_uuid = %s and status >= 'SUCCESSFUL' and not ignored order by event_id",
        uuid,
    )


def tally(database: Database, uuid: UUID) -> tuple[int, int, int, int]:
    """Added, successful, unsuccessful, open."""
    [found] = database.execute("select * from switchyard.tally_of(%s)", uuid)
    return tuple(map(int, found))  # type: ignore[return-value]


def verified(database: Database) -> bool:
    return database.execute("select * from switchyard.verify()") == []
