"""The flows of a name take turns, and what its breakers decided is handed on once."""

from conductor.limits.flows import Flows


def test_each_flow_is_first_in_turn() -> None:
    flows = Flows(["a", "b", "c"], None)
    turns = [[flow.key for flow in flows.in_turn()] for _ in range(4)]
    assert turns == [["b", "c", "a"], ["c", "a", "b"], ["a", "b", "c"], ["b", "c", "a"]]
