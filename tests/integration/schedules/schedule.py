"""What the tests of schedules say often."""

import json
from datetime import datetime
from typing import Any

from tests.parts.database import Database

DEFINITION: dict[str, object] = {
    "action_name": "noop", "workflow": None, "parameters": {}, "time_parameter": "at", "priority": 100, "lane": "night", "cron": None,
    "every": 3600, "timezone": "UTC", "overlap": "allow", "catch_up": "last", "catch_up_window": 86400, "jitter": 0,
    "starts_at": None, "ends_at": None,
}  # fmt: skip


def apply(database: Database, name: str = "s", next_at: object = None, **changes: object) -> bool:
    """Create or change a schedule; by default its next tick was due an hour ago."""
    [(changed,)] = database.execute(
        "select switchyard.apply_schedule(%s, %s::jsonb, coalesce(%s::timestamptz, date_trunc('hour', now()) - interval '1 hour'),"
        " coalesce((select revision from switchyard.schedule where name = %s), 0), 'test')",
        name,
        json.dumps({**DEFINITION, **changes}),
        next_at,
        name,
    )
    return bool(changed)


def row(database: Database, name: str = "s") -> dict[str, Any]:
    """The schedule."""
    with database.connect() as connection:
        cursor = connection.execute("select * from switchyard.schedules where name = %s", [name])
        assert cursor.description is not None
        return dict(zip([column.name for column in cursor.description], cursor.fetchall()[0], strict=True))


def tick(
    database: Database, *fire: datetime, next_at: datetime | None, missed: int = 0, **stale: Any
) -> int | None:
    """Call tick as a conductor that just read the row."""
    known = {**row(database), **stale}
    [(fired,)] = database.execute(
        "select switchyard.tick('s', %s, %s, %s::timestamptz[], %s, %s)",
        known["revision"],
        known["next_at"],
        list(fire),
        next_at,
        missed,
    )
    return fired if fired is None else int(fired)


def ticks(database: Database, name: str = "s") -> list[tuple[datetime, str]]:
    """What became of each tick."""
    return [
        (at, outcome)
        for at, outcome in database.execute(
            "select tick_at, outcome from switchyard.schedule_tick where name = %s order by 1", name
        )
    ]


def end_all(database: Database) -> None:
    """Every open action ends."""
    database.execute(
        "insert into switchyard.event (action_uuid, status) select action_uuid, 'SUCCESSFUL' from switchyard.yard"
    )
