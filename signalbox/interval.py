"""Times and intervals of the query parameter `datetime` (RFC 3339, `..` for an open end), and of ids."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from signalbox.problem import HttpProblem

EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = datetime(9990, 1, 1, tzinfo=UTC)


def bounds(given: str | None) -> tuple[datetime | None, datetime | None]:
    """Start and end of an interval, the end exclusive; None where it is open."""
    if given is None:
        return None, None
    start, slash, end = given.partition("/")
    since = _moment(start)
    until = _moment(end) if slash else since
    if since is not None and until is not None and until < since:
        raise HttpProblem(400, "/datetime: the interval ends before it begins")
    return since, None if until is None else until + timedelta(milliseconds=1)


def time_of(id_: UUID) -> datetime:
    """The time at which a version 7 uuid was created."""
    return datetime.fromtimestamp((id_.int >> 80) / 1000, UTC)


def _moment(text: str) -> datetime | None:
    if text in ("", ".."):
        return None
    try:
        found = datetime.fromisoformat(text.replace(" ", "+"))
        found = found if found.tzinfo else found.replace(tzinfo=UTC)
        return min(max(found, EARLIEST), LATEST)
    except (ValueError, OverflowError):
        raise HttpProblem(400, "/datetime: must be a time like 2026-01-31T08:00:00Z, or start/end") from None
