"""The plan: a function of the seed, fair to every kind, and never twice at the same throat."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from tests.faults.plan import Fault, Kind, plan

KINDS = (
    Kind("kill", "process", ("a", "b", "c"), weight=3, rest=3.0),
    Kind("freeze", "process", ("a", "b", "c"), seconds=(4.0, 7.0)),
    Kind("crash", "server", ("postgres",), rest=4.0),
    Kind("cut", "network", ("a", "b"), weight=2),
)
GRIPS = {kind.name: kind for kind in KINDS}


def flat(rounds: list[list[Fault]]) -> list[Fault]:
    return [fault for each in rounds for fault in each]


@given(st.integers(), st.integers(1, 200), st.integers(1, 50))
def test_the_seed_is_all_there_is_to_it(seed: int, count: int, a_round: int) -> None:
    rounds = plan(seed, count, a_round, KINDS)
    assert rounds == plan(seed, count, a_round, KINDS)
    assert len(flat(rounds)) == count
    assert all(len(each) == a_round for each in rounds[:-1])


@given(st.integers())
def test_another_seed_is_another_plan(seed: int) -> None:
    assert plan(seed, 40, 20, KINDS) != plan(seed + 1, 40, 20, KINDS)


@given(st.integers(), st.integers(11, 200))
def test_every_kind_comes_before_any_comes_by_its_weight(seed: int, count: int) -> None:
    drawn = [fault.kind for fault in flat(plan(seed, count, 50, KINDS))]
    assert set(drawn[:4]) == GRIPS.keys()
    assert Counter(drawn[4:11]) == {"kill": 3, "freeze": 1, "crash": 1, "cut": 2}


@given(st.integers(), st.integers(1, 100))
def test_a_target_is_held_by_one_fault_of_a_grip_at_a_time(seed: int, a_round: int) -> None:
    for faults in plan(seed, 100, a_round, KINDS):
        assert [fault.at for fault in faults] == sorted(fault.at for fault in faults)
        free: dict[tuple[str, str], float] = {}
        for fault in faults:
            kind = GRIPS[fault.kind]
            assert fault.target in kind.targets
            assert kind.seconds[0] <= fault.seconds <= kind.seconds[1]
            assert fault.at >= free.get((kind.grip, fault.target), 0.0)
            free[kind.grip, fault.target] = fault.at + fault.seconds + kind.rest
