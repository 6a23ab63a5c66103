"""Which ticks fire after an outage, by catch_up and its window."""

from datetime import UTC, datetime, timedelta

import pytest

from switchyard.schedules.due import MOST_FIRED, MOST_TICKS, Due, due_ticks
from switchyard.schedules.times import Times

HOURLY = Times("0 * * * *")
NOON = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
DAY = 86400.0


def after_a_day(catch_up: str, window: float = DAY) -> Due:
    """Next was yesterday at 12:00; the conductors are back at 12:30 today."""
    return due_ticks(HOURLY, catch_up, window, NOON - timedelta(days=1), NOON + timedelta(minutes=30))


def test_none_fires_nothing_of_the_outage() -> None:
    assert after_a_day("none") == Due((), NOON + timedelta(hours=1), 25)


def test_last_fires_the_last_one() -> None:
    assert after_a_day("last") == Due((NOON,), NOON + timedelta(hours=1), 24)


def test_all_fires_those_within_the_window() -> None:
    due = after_a_day("all")
    assert len(due.fire) == 24  # the first of 25 is a day and half an hour old
    assert (due.fire[0], due.fire[-1]) == (NOON - timedelta(hours=23), NOON)
    assert due.missed == 1


@pytest.mark.parametrize("catch_up", ["last", "all"])
def test_nothing_older_than_the_window_fires(catch_up: str) -> None:
    assert after_a_day(catch_up, 600.0) == Due((), NOON + timedelta(hours=1), 25)


@pytest.mark.parametrize("catch_up", ["none", "last", "all"])
def test_what_is_on_time_always_fires(catch_up: str) -> None:
    """A loop that comes around every two seconds meets two ticks of every second at once."""
    times = Times(every=1.0)
    due = due_ticks(times, catch_up, DAY, NOON, NOON + timedelta(seconds=2))
    assert due == Due(tuple(NOON + timedelta(seconds=n) for n in range(3)), NOON + timedelta(seconds=3), 0)


def test_many_ticks_fire_in_parts_and_none_is_lost_between_them() -> None:
    times, now = Times("* * * * *"), NOON + timedelta(minutes=2500)
    fired: list[datetime] = []
    next_at, missed = NOON, 0
    while next_at <= now:
        due = due_ticks(times, "all", 7 * DAY, next_at, now)
        assert len(due.fire) <= MOST_FIRED
        fired += due.fire
        missed += due.missed
        assert due.next_at is not None
        next_at = due.next_at
    assert (len(fired), len(set(fired)), missed) == (2501, 2501, 0)


@pytest.mark.parametrize("catch_up", ["none", "last"])
def test_an_outage_of_more_ticks_than_one_pass_counts(catch_up: str) -> None:
    """No pass but the last may take its last tick for the last of the outage."""
    now = NOON + timedelta(seconds=MOST_TICKS * 2 + 300.5)
    first = due_ticks(Times(every=1.0), catch_up, DAY, NOON, now)
    assert first == Due((), NOON + timedelta(seconds=MOST_TICKS), MOST_TICKS)


def test_the_end_of_a_schedule() -> None:
    ending = Times("0 * * * *", end=NOON)
    due = due_ticks(ending, "all", DAY, NOON - timedelta(hours=2), NOON + timedelta(hours=3))
    assert [tick.hour for tick in due.fire] == [10, 11]
    assert due.next_at is None
