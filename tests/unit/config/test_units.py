"""Durations, rates and sizes are read as people write them, and written so that they read back the same."""

import math
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from switchyard.config.units import (
    format_duration,
    format_rate,
    format_size,
    parse_duration,
    parse_rate,
    parse_size,
)
from tests.unit.config.reading import problems, read


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("250ms", 0.25),
        ("0s", 0),
        ("10m", 600),
        ("1h30m", 5400),
        ("1.5h", 5400),
        ("7d", 604800),
        ("2w", 1209600),
        ("1d2h3m4s5ms", 93784.005),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text", ["", "10", "s", "10 s", "-1s", "1h 30m", "1e3s", "\u0661s", "10S", "1us", "5 minutes"]
)
def test_what_is_not_a_duration(text: str) -> None:
    with pytest.raises(ValueError, match="written like"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("text", "rate"),
    [("100/s", 100), ("10/min", 1 / 6), ("10/m", 1 / 6), ("3600/h", 1), ("0.5/s", 0.5), ("1/day", 1 / 86400)],
)
def test_rates(text: str, rate: float) -> None:
    assert parse_rate(text) == pytest.approx(rate)


@pytest.mark.parametrize("text", ["100", "/s", "100/x", "100 /s", "-1/s", "100/s/s"])
def test_what_is_not_a_rate(text: str) -> None:
    with pytest.raises(ValueError, match="written like"):
        parse_rate(text)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("512B", 512),
        ("64KiB", 65536),
        ("1.5MiB", 1572864),
        ("2GiB", 2**31),
        ("10MB", 10_000_000),
        ("1 kB", 1000),
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "64", "64K", "64kb", "-1B", "KiB"])
def test_what_is_not_a_size(text: str) -> None:
    with pytest.raises(ValueError, match="written like"):
        parse_size(text)


@given(st.integers(min_value=0, max_value=10**13))
def test_a_duration_reads_back(milliseconds: int) -> None:
    assert parse_duration(format_duration(milliseconds / 1000)) == pytest.approx(milliseconds / 1000)


@given(st.floats(min_value=1e-5, max_value=1e6))
def test_a_rate_reads_back(rate: float) -> None:
    assert math.isclose(parse_rate(format_rate(rate)), rate, rel_tol=1e-6, abs_tol=1e-6)


@given(st.integers(min_value=0, max_value=2**50))
def test_a_size_reads_back(size: int) -> None:
    assert parse_size(format_size(size)) == size


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    for parse in (parse_duration, parse_rate, parse_size):
        with suppress(ValueError):
            assert parse(text) >= 0


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("conductor: {poll: 30}", "conductor.poll"),
        ("caboose: {max_output: 1000000}", "caboose.max_output"),
        ("actions: {n: {type: noop, rate: {limit: 5}}}", "actions.n.rate.limit"),
    ],
)
def test_a_number_without_unit_is_refused_in_a_file(text: str, path: str) -> None:
    (problem,) = problems(text)
    assert problem.dotted == path
    assert "write it like" in problem.message


def test_bounds_are_reported_in_the_units_of_the_key() -> None:
    (problem,) = problems("conductor: {poll: 0s}")
    assert problem.message == "must be at least 1ms"


def test_a_huge_number_is_not_a_duration() -> None:
    (problem,) = problems(f"conductor: {{poll: {'9' * 400}s}}")
    assert problem.dotted == "conductor.poll"


def test_status_codes_are_sets_of_ranges() -> None:
    config = read(
        "actions: {n: {type: noop, rate: {limit: 1/s}, breaker: {patterns: [{status: [404, 500-599]}]}}}"
    )
    breaker = config.actions["n"].breaker
    assert breaker is not None
    codes = breaker.patterns[0].status
    assert codes is not None
    assert 404 in codes
    assert 599 in codes
    assert 499 not in codes
    assert "404" not in codes


@pytest.mark.parametrize(
    ("codes", "said"),
    [
        ("5xx", "500-599"),
        ("599-500", "500-599"),
        ("[]", "empty"),
        ("99", "404"),
        ("true", "404"),
        ("[200, [300]]", "404"),
        ("{a: 1}", "404"),
    ],
)
def test_what_is_not_a_status(codes: str, said: str) -> None:
    (problem,) = problems(
        f"actions: {{n: {{type: noop, rate: {{limit: 1/s}}, breaker: {{patterns: [{{status: {codes}}}]}}}}}}"
    )
    assert problem.dotted == "actions.n.breaker.patterns[0].status"
    assert said in problem.message


@pytest.mark.parametrize(("rate", "burst"), [("100/s", 100), ("10/min", 1), ("1.5/s", 2)])
def test_newuser_14_a_burst_is_one_second_of_the_limit_unless_given(rate: str, burst: int) -> None:
    action = read(f"actions: {{n: {{type: noop, rate: {{limit: {rate}}}}}}}").actions["n"]
    assert action.rate is not None
    assert action.rate.burst == burst


def test_mutation_28_every_unit_of_a_size_has_its_value() -> None:
    sizes = {"1B": 1, "1KiB": 1024, "1MiB": 1024**2, "1GiB": 1024**3, "1kB": 1000, "1MB": 10**6, "1GB": 10**9}
    assert {text: parse_size(text) for text in sizes} == sizes
    written = {
        0: "0B",
        1: "1B",
        1000: "1000B",
        1024: "1KiB",
        1536: "1536B",
        2 * 1024**2: "2MiB",
        1024**3: "1GiB",
    }
    assert {size: format_size(size) for size in written} == written


def test_mutation_28_a_rate_is_written_in_the_smallest_unit_that_is_whole() -> None:
    written = {
        100.0: "100/s",
        1 / 60: "1/min",
        10 / 60: "10/min",
        5000 / 3600: "5000/h",
        1 / 86400: "1/d",
        0.3: "18/min",
    }
    assert {rate: format_rate(rate) for rate in written} == written
    assert format_rate(math.pi / 1000) == "0.003142/s"


def test_mutation_28_a_duration_has_at_most_a_hundred_years() -> None:
    assert read("conductor: {poll: 36500d}").conductor.poll == 36500 * 86400.0
    [problem] = problems("conductor: {poll: 36501d}")
    assert "at most 36500d" in problem.message
