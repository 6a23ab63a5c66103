"""Silence counts only while it could have been heard."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from conductor.maintenance.silence import Silence

EARLY = datetime(2026, 1, 1, tzinfo=UTC)
ONE, TWO, THREE = UUID(int=1), UUID(int=2), UUID(int=3)
LOST_AFTER = 30.0


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def marker(clock: Clock) -> Silence:
    return Silence(5.0, clock)


def test_a_worker_that_stops_beating_is_silent_after_lost_after() -> None:
    clock = Clock()
    silence = marker(clock)
    lost = []
    for turn in range(9):
        clock.now += 5
        rows = [(ONE, "conductor", EARLY), (TWO, "conductor", EARLY + timedelta(seconds=5 * turn))]
        lost.append([worker for worker, _ in silence.look(rows, LOST_AFTER)])
    assert lost == [[]] * 6 + [[ONE]] * 3


def test_hole_7_an_outage_or_a_paused_marker_counts_for_no_more_than_one_look() -> None:
    clock = Clock()
    silence = marker(clock)
    rows = [(ONE, "conductor", EARLY)]
    silence.look(rows, LOST_AFTER)
    for _ in range(2):
        clock.now += 3600  # no look succeeded meanwhile
        assert silence.look(rows, LOST_AFTER) == []


def test_hole_16_what_the_servers_clock_says_does_not_matter() -> None:
    clock = Clock()
    silence = marker(clock)
    for beat in (EARLY, EARLY + timedelta(hours=1), EARLY - timedelta(days=1)):
        clock.now += 5
        assert silence.look([(ONE, "conductor", beat)], LOST_AFTER) == []


def test_mission_b5_assessment_workers_are_not_lost_while_no_caboose_could_report_them() -> None:
    clock = Clock()
    silence = marker(clock)
    rows = [(ONE, "assessment", EARLY), (TWO, "caboose", EARLY)]
    for _ in range(8):
        clock.now += 5
        lost = silence.look(rows, LOST_AFTER)
    assert lost == [(TWO, EARLY)]
    clock.now += 5
    assert silence.look([rows[0], (THREE, "caboose", EARLY)], LOST_AFTER) == [(ONE, EARLY)]
