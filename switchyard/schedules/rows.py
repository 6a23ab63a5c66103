"""Translates between rows of the view `schedules` and the configuration."""

from collections.abc import Mapping
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from cronsim import CronSim

from switchyard.config.units import format_duration
from switchyard.schedules.times import EPOCH, Times

if TYPE_CHECKING:
    from switchyard.config.config import Config
    from switchyard.config.schedules import Schedule


def definition(schedule: "Schedule", config: "Config") -> dict[str, Any]:
    """The columns that the configuration decides, as the SQL function `apply_schedule` takes them."""
    workflow = config.workflows[schedule.workflow] if schedule.workflow is not None else None
    return {
        "action_name": workflow.action if workflow is not None else schedule.action,
        "workflow": schedule.workflow,
        "parameters": dict(schedule.parameters),
        "time_parameter": schedule.time_parameter,
        "priority": schedule.priority,
        "lane": schedule.lane,
        "cron": schedule.cron,
        "every": schedule.every,
        "timezone": schedule.timezone,
        "overlap": schedule.overlap,
        "catch_up": schedule.catch_up,
        "catch_up_window": schedule.window,
        "jitter": schedule.jitter,
        "starts_at": schedule.start and schedule.start.isoformat(),
        "ends_at": schedule.end and schedule.end.isoformat(),
    }


def times_of(row: Mapping[str, Any]) -> Times:
    """When the schedule of a row fires."""
    return Times(row["cron"], row["every"], row["timezone"], row["starts_at"], row["ends_at"])


def words(times: Times) -> str:
    """When a schedule fires, in words; never fails, so that a list can always be shown."""
    try:
        if times.cron:
            return f"{CronSim(times.cron, EPOCH).explain()} ({times.timezone})"
        return f"Every {format_duration(times.every or 0)}"
    except Exception as error:  # noqa: BLE001 - SQL accepts expressions that nobody can read
        return f"Cannot fire: {error}"


def upcoming(times: Times, next_at: datetime, count: int) -> list[datetime]:
    """The next ticks, in order; none if they cannot be computed."""
    try:
        return list(islice(times.since(next_at), count))
    except Exception:  # noqa: BLE001 - as above, and ticks beyond the year 9999
        return []
