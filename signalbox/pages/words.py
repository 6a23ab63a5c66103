"""How pages write statuses, times, durations, numbers and ids."""

import json
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from markupsafe import Markup, escape

from signalbox.records.lanes import Lane
from switchyard.status import Status

WORDS = {
    Status.PENDING: ("pending", "Pending"),
    Status.QUEUED: ("queued", "Queued"),
    Status.RUNNING: ("running", "Running"),
    Status.BACKOFF: ("backoff", "Backoff"),
    Status.SUCCESSFUL: ("successful", "Successful"),
    Status.FAILED: ("failed", "Failed"),
    Status.CANCELED: ("canceled", "Canceled"),
    Status.TIMED_OUT: ("timed_out", "Timed out"),
    Status.INVALID: ("invalid", "Invalid"),
    Status.RETRIES_EXHAUSTED: ("exhausted", "Retries exhausted"),
    Status.INFO: ("idle", "Info"),
}
LANES = {
    "ready": ("well", "Ready"),
    "full": ("limit", "At its limit"),
    "waiting": ("limit", "Waits for its turn"),
    "empty": ("idle", "Nothing waits"),
}
NONE = "\N{EN DASH}"  # a value that does not apply
MINUS = "\N{MINUS SIGN}"  # as wide as a digit
DEEDS = {
    "pause": "paused",
    "resume": "resumed",
    "pause_campaign": "paused the campaign",
    "resume_campaign": "resumed the campaign",
    "pause_schedule": "paused the schedule",
    "resume_schedule": "resumed the schedule",
    "trigger_schedule": "triggered the schedule",
    "schedule": "changed the schedule",
    "token": "changed the token",
    "forget_results": "forgot results of",
    "backfill": "filled in the schedule",
}
_UUID7 = re.compile(r"([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def shape(status: str) -> str:
    """The name of a status's shape and colour in the style sheet."""
    return WORDS[Status(status)][0]


def word(status: str) -> str:
    """A status for people."""
    return WORDS[Status(status)][1]


def state(status: str, text: str | None = None) -> Markup:
    """A status as shape, word and colour; `text` in place of the status's own word."""
    return Markup('<span class="state" data-s="{}">{}</span>').format(shape(status), text or word(status))


def lane_state(lane: Lane) -> Markup:
    """The state of a lane: its breaker takes precedence over its limits."""
    name, text = LANES[lane.state]
    if lane.breaker is not None and lane.breaker < 1:
        name, text = "slowed", f"Slowed to {lane.breaker * 100:.2g} %"
    return Markup('<span class="state" data-s="{}">{}</span>').format(name, text)


def took(seconds: float | Decimal | None) -> str:
    """A duration with at most two units; a dash if there is none."""
    if seconds is None:
        return NONE
    value = max(0.0, float(seconds))
    if value < _MINUTE:
        return _short(value)
    if value < _HOUR:
        return _two(value, _MINUTE, "min", 1, "s")
    if value < _DAY:
        return _two(value, _HOUR, "h", _MINUTE, "min")
    return _two(value, _DAY, "d", _HOUR, "h")


def _short(value: float) -> str:
    if value < 0.1:
        return f"{value * 1000:.0f} ms"
    digits = 2 if value < 1 else 1 if value < 10 else 0
    return f"{value:.{digits}f} s"


def _two(value: float, large: int, large_unit: str, small: int, small_unit: str) -> str:
    whole, rest = divmod(int(value), large)
    below = rest // small
    return f"{whole} {large_unit} {below} {small_unit}" if below else f"{whole} {large_unit}"


def when(at: datetime | None) -> Markup:
    """A moment, in UTC; the script rewrites it in the reader's zone."""
    if at is None:
        return escape(NONE)
    utc = at.astimezone(UTC)
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        utc.isoformat(timespec="milliseconds"), utc.strftime("%a %d %b %Y %H:%M:%S UTC"), _near(utc)
    )


def _near(at: datetime) -> str:
    now = datetime.now(UTC)
    if at.date() == now.date():
        return at.strftime("%H:%M:%S")
    if abs((now - at).days) < 6:
        return at.strftime("%a %H:%M")
    return at.strftime("%d %b %H:%M") if at.year == now.year else at.strftime("%d %b %Y")


def number(value: float | Decimal | None) -> str:
    """With separators of thousands, and at most two decimals."""
    if value is None:
        return NONE
    shown = f"{value:,}" if isinstance(value, int) else f"{value:,.2f}".rstrip("0").rstrip(".")
    return shown.replace("-", MINUS)


def many(count: int, one: str, more: str | None = None) -> str:
    """A count with its noun: 1 job, 2 jobs."""
    return f"{count:,} {one if count == 1 else more or f'{one}s'}"


def size(count: int | None) -> str:
    """Bytes for people."""
    if count is None:
        return NONE
    value = float(count)
    for unit in ("B", "KB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def ending(uuid: object) -> str:
    """The end of an id: ids of one batch share their beginning."""
    return f"…{str(uuid)[-4:]}"


def time_in(path: str) -> tuple[str, str] | None:
    """The minute around the time in the version 7 uuid of a path; None if there is none."""
    found = _UUID7.search(path)
    if found is None:
        return None
    at = datetime.fromtimestamp(int(found[1] + found[2], 16) / 1000, UTC)
    half = timedelta(seconds=30)
    return f"{at - half:%Y-%m-%dT%H:%M:%SZ}", f"{at + half:%Y-%m-%dT%H:%M:%SZ}"


def deed(kind: str, actor: str | None) -> str:
    """The text of a journal entry: a person's decision, or an automatic event."""
    shown = kind.replace("_", " ")
    return DEEDS.get(kind, shown) if actor else f"{shown[:1].upper()}{shown[1:]}:"


def pretty(value: Any) -> str:
    """A JSON document, indented."""
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


def query_of(path: str) -> dict[str, str]:
    """The query parameters of a path, by name; if a name occurs twice, the last value."""
    return dict(parse_qsl(urlsplit(path).query))


def steady(now: datetime) -> datetime:
    """The time, rounded to ten seconds: a live region is sent again whenever its text has changed."""
    return now.replace(second=now.second // 10 * 10, microsecond=0)
