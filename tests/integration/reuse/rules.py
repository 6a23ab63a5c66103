"""What the tests of reuse say often."""

from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from tests.integration.waiting.joins import Connection
from tests.parts.database import Database


def announce(
    connection: Connection, workflow: str = "ndvi", *, fresh: float = 2592000.0, **rule: Any
) -> None:
    """The workflow, as conductors announce it."""
    reuse = {"version": "7", "key": ["$.item"], "for": fresh, "shared": False, **rule}
    connection.execute(
        "insert into switchyard.route (workflow, action_name, reuse) values (%s, 'noop', %s)"
        " on conflict (workflow) do update set reuse = excluded.reuse",
        [workflow, Jsonb(reuse)],
    )


def ask(
    connection: Connection,
    item: Any = 1,
    *,
    workflow: str = "ndvi",
    parameters: dict[str, Any] | None = None,
    lane: str | None = None,
    no_cache: bool | None = None,
    after: list[UUID] | None = None,
    start: str | None = None,
) -> UUID:
    """An action of a workflow whose results are reused."""
    given = {"item": item} if parameters is None else parameters
    [(uuid,)] = connection.execute(
        "select switchyard.submit(workflow => %s, parameters => %s, lane => %s, no_cache => %s, after => %s::uuid[],"
        " start_after => %s::timestamptz, callbacks => '[]')",
        [workflow, Jsonb(given), lane, no_cache, after, start],
    ).fetchall()
    return uuid  # type: ignore[no-any-return]


def settle(connection: Connection) -> int:
    """Settle waiters and keys until nothing changes; how many are busy."""
    while True:
        [(settled, busy)] = connection.execute(
            "select w.settled + r.settled, w.busy + r.busy from switchyard.settle_waiting() as w, switchyard.settle_reuse() as r"
        ).fetchall()
        if not settled:
            return int(busy)


def roles(database: Database) -> dict[UUID, str]:
    """What each action with a key does."""
    return dict(database.execute("select action_uuid, role from switchyard.reuse"))


def reused(database: Database, uuid: UUID) -> tuple[UUID, int] | None:
    """Whose result it ended with."""
    [(found,)] = database.execute(
        "select switchyard.reused(action_uuid, run) from switchyard.thread where action_uuid = %s", uuid
    )
    return None if found is None else (UUID(found["action"]), found["run"])


def computing(database: Database, *asked: UUID) -> list[UUID]:
    """Those that a claim would take, or has taken."""
    rows = database.execute(
        "select action_uuid from switchyard.yard where action_uuid = any (%s) and due is distinct from 'infinity' order by action_uuid",
        list(asked),
    )
    return [uuid for (uuid,) in rows]
