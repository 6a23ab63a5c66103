"""Both forms of Retry-After, and what is neither."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from switchyard.backends.http.answer import retry_after

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


def test_seconds() -> None:
    assert retry_after(" 120 ", NOW) == 120


@given(st.integers(-100_000, 100_000))
def test_a_date_is_the_time_left_until_it(seconds: int) -> None:
    header = format_datetime(NOW + timedelta(seconds=seconds), usegmt=True)
    assert retry_after(header, NOW) == max(0, seconds)


def test_an_asctime_date_means_utc() -> None:
    assert retry_after("Sun Mar  1 12:01:00 2026", NOW) == 60


@pytest.mark.parametrize(
    "value", ["", "soon", "-5", "1.5", "٣", "9" * 11, "Sun, " * 1000, "Sun, 99 Mar 2026"]
)
def test_what_is_neither_reports_nothing(value: str) -> None:
    assert retry_after(value, NOW) is None


@given(st.text(max_size=200))
def test_hostile_text_never_raises(value: str) -> None:
    seconds = retry_after(value, NOW)
    assert seconds is None or seconds >= 0
