"""How pages write durations, numbers and statuses."""

from datetime import UTC, datetime, timedelta

import pytest

from signalbox.pages import words
from signalbox.records.lanes import Lane
from switchyard.status import Status


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "\N{EN DASH}"),
        (-1, "0 ms"),
        (0.0091, "9 ms"),
        (0.357, "0.36 s"),
        (9.94, "9.9 s"),
        (59, "59 s"),
        (60, "1 min"),
        (389, "6 min 29 s"),
        (5700, "1 h 35 min"),
        (86400 * 3 + 3600 * 4, "3 d 4 h"),
    ],
)
def test_a_duration_has_at_most_two_units(seconds: float | None, text: str) -> None:
    assert words.took(seconds) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(100412, "100,412"), (2437.28, "2,437.28"), (10.0, "10"), (-104.2, "\N{MINUS SIGN}104.2")],
)
def test_a_number_has_separators(value: float, text: str) -> None:
    assert words.number(value) == text


@pytest.mark.parametrize("status", list(Status))
def test_every_status_is_a_shape_and_a_word(status: Status) -> None:
    assert f'data-s="{words.shape(status)}">{words.word(status)}<' in words.state(status)


def test_what_people_write_in_place_of_a_word_is_escaped() -> None:
    assert "<b>" not in words.state("FAILED", "<b>")


def test_a_time_is_shown_as_exactly_as_needed() -> None:
    now = datetime.now(UTC)
    assert words.when(None) == "\N{EN DASH}"
    assert f">{now:%H:%M:%S}<" in words.when(now)
    assert f">{now - timedelta(days=3):%a %H:%M}<" in words.when(now - timedelta(days=3))
    assert ">02 Jan 2020<" in words.when(datetime(2020, 1, 2, tzinfo=UTC))
    assert 'datetime="2020-01-02T00:00:00.000+00:00"' in words.when(datetime(2020, 1, 2, tzinfo=UTC))


@pytest.mark.parametrize(
    ("state", "breaker", "shape", "text"),
    [
        ("ready", None, "well", "Ready"),
        ("full", 1.0, "limit", "At its limit"),
        ("waiting", None, "limit", "Waits for its turn"),
        ("empty", None, "idle", "Nothing waits"),
        ("full", 0.25, "slowed", "Slowed to 25 %"),
    ],
)
def test_a_lane_has_a_shape_and_words(state: str, breaker: float | None, shape: str, text: str) -> None:
    lane = Lane(action_name="a", open=1, in_flight=1, weight=1, state=state, breaker=breaker)
    assert words.lane_state(lane) == f'<span class="state" data-s="{shape}">{text}</span>'
