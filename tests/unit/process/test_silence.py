"""Silence counts only while it could have been heard."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from switchyard.process.silence import Silence

EARLY = datetime(2026, 1, 1, tzinfo=UTC)
ONE, TWO = UUID(int=1), UUID(int=2)
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
        rows = [(ONE, "conductor", EARLY, 0.0), (TWO, "conductor", EARLY + timedelta(seconds=5 * turn), 0.0)]
        lost.append([worker for worker, _ in silence.look(rows, LOST_AFTER)])
    assert lost == [[]] * 6 + [[ONE]] * 3


def test_hole_7_an_outage_or_a_paused_marker_counts_for_no_more_than_one_look() -> None:
    clock = Clock()
    silence = marker(clock)
    rows = [(ONE, "conductor", EARLY, 0.0)]
    silence.look(rows, LOST_AFTER)
    for _ in range(2):
        clock.now += 3600  # no look succeeded meanwhile
        assert silence.look(rows, LOST_AFTER) == []


def test_hole_16_what_the_servers_clock_shows_does_not_matter() -> None:
    clock = Clock()
    silence = marker(clock)
    for beat in (EARLY, EARLY + timedelta(hours=1), EARLY - timedelta(days=1)):
        clock.now += 5
        assert silence.look([(ONE, "conductor", beat, 0.0)], LOST_AFTER) == []


def test_mission_b5_assessment_workers_are_not_lost_while_no_caboose_could_report_them() -> None:
    clock = Clock()
    silence = marker(clock)

    def looks(times: int, *cabooses: UUID) -> list[UUID]:
        for turn in range(times):
            clock.now += 5
            beats = [(worker, "caboose", EARLY + timedelta(seconds=turn), 0.0) for worker in cabooses]
            lost = silence.look([(ONE, "assessment", EARLY, 0.0), *beats], LOST_AFTER)
        return [worker for worker, _ in lost]

    assert looks(20) == []
    assert looks(5, TWO) == [], "a new caboose has not had the time to hear of it"
    assert looks(2, TWO) == [ONE]


def test_one_that_rests_may_be_silent_for_so_much_longer_and_looks_are_as_rare() -> None:
    clock = Clock()
    silence = marker(clock)
    silence.look([(ONE, "conductor", EARLY, 60.0)], LOST_AFTER)
    assert silence.pause == 60.0
    clock.now += 60
    assert silence.look([(ONE, "conductor", EARLY, 60.0)], LOST_AFTER) == []
    clock.now += 60
    assert silence.look([(ONE, "conductor", EARLY, 60.0)], LOST_AFTER) == [(ONE, EARLY)]


def test_one_outage_loses_nobody_that_rests() -> None:
    clock = Clock()
    silence = marker(clock)
    silence.look([(ONE, "conductor", EARLY, 60.0)], LOST_AFTER)
    clock.now += 3600
    assert silence.look([(ONE, "conductor", EARLY, 60.0)], LOST_AFTER) == []


def test_beside_one_that_rests_a_busy_one_is_watched_as_closely_as_before() -> None:
    clock = Clock()
    silence = marker(clock)
    lost = []
    for turn in range(8):
        beat = EARLY + timedelta(seconds=turn)
        rows = [(ONE, "conductor", EARLY, 0.0), (TWO, "caboose", beat, 60.0)]
        lost.append([worker for worker, _ in silence.look(rows, LOST_AFTER)])
        assert silence.pause == 5.0
        clock.now += 5
    assert lost == [[]] * 6 + [[ONE]] * 2
