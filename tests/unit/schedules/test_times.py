"""The times of a schedule, also on the days on which clocks change."""

from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest

from switchyard.schedules.rows import words
from switchyard.schedules.times import Times, check_cron, check_zone


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def first(times: Times, start: str, count: int) -> list[str]:
    return [f"{tick:%m-%d %H:%M}" for tick in islice(times.since(utc(start)), count)]


@pytest.mark.parametrize(
    ("cron", "zone", "start", "expected"),
    [
        # London, 29 March 2026: there is no 01:30; it fires when the gap ends, at 02:00 BST.
        ("30 1 * * *", "Europe/London", "2026-03-28", ["03-28 01:30", "03-29 01:00", "03-30 00:30"]),
        # London, 25 October 2026: there are two 01:30; the first one fires.
        ("30 1 * * *", "Europe/London", "2026-10-24", ["10-24 00:30", "10-25 00:30", "10-26 01:30"]),
        # What fires every half hour goes on doing so through the repeated hour.
        (
            "*/30 * * * *",
            "Europe/London",
            "2026-10-25",
            ["10-25 00:00", "10-25 00:30", "10-25 01:00", "10-25 01:30"],
        ),
        # Lord Howe moves by half an hour: back on 5 April, forward on 4 October.
        (
            "45 1 * * *",
            "Australia/Lord_Howe",
            "2026-04-03T20:00",
            ["04-04 14:45", "04-05 15:15", "04-06 15:15"],
        ),
        (
            "15 2 * * *",
            "Australia/Lord_Howe",
            "2026-10-02T20:00",
            ["10-03 15:30", "10-04 15:15", "10-05 15:15"],
        ),
        ("0 0 29 2 *", "UTC", "2026-01-01", ["02-29 00:00"]),
    ],
)
def test_newuser_20_days_on_which_a_schedule_can_go_wrong(
    cron: str, zone: str, start: str, expected: list[str]
) -> None:
    assert first(Times(cron, timezone=zone), start, len(expected)) == expected


def test_29_february_comes_every_four_years() -> None:
    ticks = list(islice(Times("0 0 29 2 *").since(utc("2026-01-01")), 3))
    assert [tick.year for tick in ticks] == [2028, 2032, 2036]


@pytest.mark.parametrize(
    ("cron", "zone", "start"),
    [
        ("*/30 * * * *", "Europe/London", "2026-10-24T22:00"),
        ("30 1 * * *", "Europe/London", "2026-10-23"),
        ("30 1 * * *", "Europe/London", "2026-03-27"),
        ("*/15 * * * *", "Australia/Lord_Howe", "2026-04-04T12:00"),
        ("45 1 * * *", "Australia/Lord_Howe", "2026-04-03"),
        ("15 1 * * *", "America/New_York", "2026-10-30"),
    ],
)
def test_step_by_step_gives_the_same_times_as_one_iteration(cron: str, zone: str, start: str) -> None:
    times = Times(cron, timezone=zone)
    at_once = list(islice(times.since(utc(start)), 100))
    tick, steps = utc(start) - timedelta(minutes=1), []
    for _ in at_once:
        tick = times.after(tick) or tick
        steps.append(tick)
    assert steps == at_once
    assert at_once == sorted(set(at_once))


@pytest.mark.parametrize("minute", [0, 15, 29, 30, 31, 59])
def test_no_time_is_in_the_past_when_asked_within_a_repeated_hour(minute: int) -> None:
    """At the second 01:15 of that night CronSim answers 01:30 of the first hour, which has passed."""
    asked = utc(f"2026-10-25T01:{minute:02}")
    assert Times("30 1 * * *", timezone="Europe/London").after(asked) == utc("2026-10-26T01:30")


def test_an_interval_is_counted_from_its_start_or_from_1970() -> None:
    assert first(Times(every=21600.0), "2026-01-01T05:00", 3) == ["01-01 06:00", "01-01 12:00", "01-01 18:00"]
    anchored = Times(every=21600.0, start=utc("2026-01-01T01:10"))
    assert first(anchored, "2026-01-01T05:00", 2) == ["01-01 07:10", "01-01 13:10"]
    assert first(anchored, "2025-01-01", 1) == ["01-01 01:10"]


def test_nothing_before_the_start_or_at_the_end() -> None:
    times = Times("0 * * * *", start=utc("2026-01-01T02:30"), end=utc("2026-01-01T05:00"))
    assert first(times, "2026-01-01", 9) == ["01-01 03:00", "01-01 04:00"]
    assert times.after(utc("2026-01-01T04:00")) is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("* * * * * *", "fires too often: six fields"),
        ("0 0 30 2 *", "never fires: none of its months has that day"),
        ("0 0 31 4,6 *", "never fires"),
        ("61 * * * *", "the minute field cannot be read: '61'"),
        ("0 0 32 * *", "the day-of-month field cannot be read: '32'"),
        ("0 25 * * *", "the hour field cannot be read: '25'"),
        ("0 0 * * FOO", "the day-of-week field cannot be read"),
        ("", "needs five fields"),
        ("* * * *", "needs five fields"),
        ("@reboot", "is not one of @hourly, @daily"),
    ],
)
def test_an_expression_that_cannot_be_used_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        check_cron(text)


def test_names_for_common_expressions() -> None:
    assert check_cron("@daily") == check_cron("@midnight") == "0 0 * * *"
    assert check_cron(" 0  2 * * * ") == "0 2 * * *"


@pytest.mark.parametrize("name", ["Europe/Lodnon", "../etc/passwd", "", "/etc/passwd", "a\0b"])
def test_an_unknown_time_zone_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="there is no time zone"):
        check_zone(name)


def test_words() -> None:
    assert words(Times("0 2 * * *", timezone="Europe/London")) == "At 02:00 every day (Europe/London)"
    assert words(Times(every=5400.0)) == "Every 1h30m"
