"""The `Retry-After` header in both its forms: seconds, or an HTTP date (RFC 9110, 10.2.3)."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_SECONDS = re.compile(r"[0-9]{1,10}")
_LONGEST_DATE = 64


def retry_after(value: str, now: datetime) -> float | None:
    """The seconds to wait, never negative; None where the value is neither form."""
    text = value.strip()
    if _SECONDS.fullmatch(text):
        return float(text)
    if len(text) > _LONGEST_DATE:
        return None
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    if at.tzinfo is None:  # an asctime date carries no zone, and means UTC
        at = at.replace(tzinfo=UTC)
    return max(0.0, (at - now).total_seconds())
