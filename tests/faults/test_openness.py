"""The receiver's count of what is open finds each excess, and none where the limits hold."""

import socket

import pytest

from tests.faults.openness import LANE_LIMIT, LATE, LIMIT, RATE, Openness, Request, by_lane, excesses


def at(*times: float, seconds: float = 1.0, hung_up: bool = False) -> list[Request]:
    return [Request("/laned/x", time, time + seconds, hung_up) for time in times]


def spread(count: int, step: float) -> list[float]:
    return [number * step for number in range(count)]


def test_nothing_is_found_where_limits_are_reached_and_not_exceeded() -> None:
    lanes = {f"lane {n}": at(*[10.0] * LANE_LIMIT, *[11.0] * LANE_LIMIT) for n in range(LIMIT // LANE_LIMIT)}
    assert list(excesses(lanes, [])) == []


@pytest.mark.parametrize(
    ("lanes", "found"),
    [
        ({"A": at(*[10.0] * (LANE_LIMIT + 1))}, "requests of A were open at once"),
        ({str(n): at(10.0 + n / 100) for n in range(LIMIT + 1)}, "requests were open at once"),
        ({"A": at(*spread(8 * RATE * int(LATE), 0.1), seconds=0.05)}, "requests of A came in"),
    ],
)
def test_each_excess_is_found_and_only_excused_shortly_after_a_lapse(
    lanes: dict[str, list[Request]], found: str
) -> None:
    assert any(found in text for text in excesses(lanes, []))
    assert any(found in text for text in excesses(lanes, [-100.0]))
    if "open" in found:
        assert not any(found in text for text in excesses(lanes, [9.0]))


def test_a_disconnected_client_is_not_counted_as_open() -> None:
    assert list(excesses({"A": at(10.0, 10.0, seconds=3, hung_up=True) + at(12.1)}, [])) == []
    assert list(excesses({"A": at(10.0, 10.0, seconds=3) + at(12.1)}, [])) != []


def test_a_sender_that_hangs_up_ends_its_request_and_an_answer_does_too() -> None:
    receiver_side = Openness(0.01)
    sender, receiver = socket.socketpair()
    with receiver:
        receiver_side.work("/laned/a", receiver, 0.0)
        sender.close()
        receiver_side.work("/laned/b", receiver, 60.0)
    first, second = receiver_side.requests
    assert (first.hung_up, second.hung_up) == (False, True)
    assert by_lane(receiver_side.requests, {"/laned/a": "A"}) == {"A": [first]}
