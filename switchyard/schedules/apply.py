"""Writes the schedules of the configuration to the database; unchanged definitions are left alone.

Not done by every conductor at its start: in a rolling update two versions of the file would alternate.
"""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from psycopg import Connection
from psycopg.rows import DictRow

from switchyard.errors import BadInput
from switchyard.ledger.queries import query
from switchyard.schedules.rows import definition
from switchyard.submit import Submission
from switchyard.submit.check import accept

if TYPE_CHECKING:
    from switchyard.config.config import Config
    from switchyard.config.schedules import Schedule


@dataclass(frozen=True, slots=True)
class Applied:
    """The names that were changed, those that were unchanged, and others in the database."""

    changed: list[str]
    unchanged: list[str]
    others: list[str]


def apply_schedules(connection: Connection[DictRow], config: "Config", actor: str) -> Applied:
    """Create and change the configured schedules, all or none; others are left alone."""
    for name, schedule in config.schedules.items():
        _check(name, schedule, config)
    with connection.transaction():
        rows = {row["name"]: row for row in connection.execute(query("schedules", "all")).fetchall()}
        changed = [
            name
            for name, schedule in config.schedules.items()
            if _apply(connection, name, schedule, config, rows.get(name), actor)
        ]
    unchanged = [name for name in config.schedules if name not in changed]
    return Applied(changed, unchanged, sorted(rows.keys() - config.schedules.keys()))


def next_from(row: DictRow | None, now: datetime) -> datetime:
    """The start of the new times: a tick that is due and has not fired, else now."""
    due = row["next_at"] if row is not None else None
    return min(due, now) if due is not None else now


def _apply(
    connection: Connection[DictRow],
    name: str,
    schedule: "Schedule",
    config: "Config",
    row: DictRow | None,
    actor: str,
) -> bool:
    found = connection.execute(query("schedules", "now")).fetchone()
    assert found is not None
    begin = next_from(row, found["now"])
    values: dict[str, Any] = {
        "name": name,
        "definition": json.dumps(definition(schedule, config)),
        "next_at": next(schedule.times.since(begin), None),
        "revision": row["revision"] if row is not None else 0,
        "actor": actor,
    }
    result = connection.execute(query("schedules", "apply"), values).fetchone()
    return bool(result and result["changed"])


def _check(name: str, schedule: "Schedule", config: "Config") -> None:
    """Check the submission of a schedule, with an example of a tick's time."""
    parameters = dict(schedule.parameters)
    if schedule.time_parameter is not None:
        parameters[schedule.time_parameter] = "2026-01-01T00:00:00Z"
    try:
        accept(Submission(schedule.action, parameters, schedule.workflow, schedule.priority), config)
    except BadInput as error:
        raise BadInput(f"schedules.{name}: {error}") from error
