"""The times of a schedule: a cron expression in a time zone, or an interval, between a start and an end."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
INSTANT = timedelta(microseconds=1)
ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
FIELDS = ("minute", "hour", "day-of-month", "month", "day-of-week")


def check_cron(text: str) -> str:
    """The expression with five fields; raises ValueError with the reason if it is invalid."""
    expression = ALIASES.get(text.strip().lower(), text.strip())
    if expression.startswith("@"):
        raise ValueError(f"is not one of {', '.join(ALIASES)}")
    fields = expression.split()
    if len(fields) == len(FIELDS) + 1:
        raise ValueError(
            "fires too often: six fields count seconds, and once a minute is the most; use every"
        )
    if len(fields) != len(FIELDS):
        raise ValueError(f"needs five fields ({', '.join(FIELDS)}), like 0 2 * * *, not {len(fields)}")
    try:
        next(CronSim(expression, EPOCH))
    except CronSimError as error:
        raise ValueError(_reason(expression, str(error))) from None
    except StopIteration:
        raise ValueError("never fires: there is no such day") from None
    return " ".join(fields)


def _reason(expression: str, said: str) -> str:
    """The reason; CronSim reports a day that no month has like a field that it cannot parse."""
    day = expression.split()[2]
    if said == "Bad day-of-month" and all(part.isdigit() and 1 <= int(part) <= 31 for part in day.split(",")):
        return "never fires: none of its months has that day"
    name = said.removeprefix("Bad ")
    known = dict(zip(FIELDS, expression.split(), strict=True))
    return f"the {name} field cannot be read: {known.get(name, '')!r}"


def check_zone(name: str) -> str:
    """The name, if it is a time zone that this machine knows; raises ValueError otherwise."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"there is no time zone {name[:100]!r}: write it like Europe/London") from None
    return name


@dataclass(frozen=True, slots=True)
class Times:
    """Increasing moments in UTC, also when the zone's clocks change."""

    cron: str | None = None
    every: float | None = None
    timezone: str = "UTC"
    start: datetime | None = None
    end: datetime | None = None

    def after(self, moment: datetime) -> datetime | None:
        """The first tick after that moment."""
        return next(self.since(moment + INSTANT), None)

    def since(self, moment: datetime) -> Iterator[datetime]:
        """All ticks from that moment on, in order."""
        first = moment if self.start is None else max(moment, self.start)
        for tick in self._by_cron(first) if self.cron else self._by_interval(first):
            if self.end is not None and tick >= self.end:
                return
            yield tick

    def _by_cron(self, first: datetime) -> Iterator[datetime]:
        assert self.cron is not None
        last = first - INSTANT
        for local in CronSim(self.cron, last.astimezone(ZoneInfo(self.timezone))):
            tick = local.astimezone(UTC)
            # In the hour that a clock repeats, CronSim starts from the first of the two.
            if tick > last:
                last = tick
                yield tick

    def _by_interval(self, first: datetime) -> Iterator[datetime]:
        """Ticks counted from the start, or from 1970: they do not depend on when they are computed."""
        assert self.every is not None
        step, anchor = timedelta(seconds=self.every), self.start or EPOCH
        tick = anchor + step * -(-(first - anchor) // step)
        while True:
            yield tick
            tick += step
