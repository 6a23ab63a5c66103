"""Decides which past ticks fire: those of the last minute always, earlier ones by `catch_up`."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice, takewhile

from switchyard.schedules.times import Times

ON_TIME = timedelta(seconds=60)
MOST_TICKS = 10_000  # counted at once: about half a second
MOST_FIRED = 1000  # submitted in one transaction; the SQL function refuses more


@dataclass(frozen=True, slots=True)
class Due:
    """The arguments of one call of `tick`."""

    fire: tuple[datetime, ...]
    next_at: datetime | None
    missed: int


def due_ticks(times: Times, catch_up: str, window: float, next_at: datetime, now: datetime) -> Due:
    """What to do about the ticks from `next_at` to now; after a long outage, about the first of them."""
    passed = list(islice(takewhile(lambda tick: tick <= now, times.since(next_at)), MOST_TICKS))
    following = times.after(passed[-1]) if passed else next(times.since(next_at), None)
    complete = following is None or following > now
    chosen = _chosen(passed, catch_up, timedelta(seconds=window), now, complete)
    if len(chosen) > MOST_FIRED:
        following = chosen[MOST_FIRED]
        passed = [tick for tick in passed if tick < following]
        chosen = chosen[:MOST_FIRED]
    return Due(tuple(chosen), following, len(passed) - len(chosen))


def _chosen(
    passed: list[datetime], catch_up: str, window: timedelta, now: datetime, complete: bool
) -> list[datetime]:
    if catch_up == "all":
        return [tick for tick in passed if now - tick <= window]
    on_time = [tick for tick in passed if now - tick <= ON_TIME]
    if catch_up == "last" and complete and not on_time:
        return [tick for tick in passed[-1:] if now - tick <= window]
    return on_time
