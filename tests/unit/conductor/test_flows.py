"""The flows of a name take turns, and what its breakers decided is handed on once."""

from conductor.limits.breaker import Breaker
from conductor.limits.flows import Flows
from switchyard.handlers import Retry


def test_each_flow_is_first_in_turn() -> None:
    flows = Flows(["a", "b", "c"], None)
    turns = [[flow.key for flow in flows.in_turn()] for _ in range(4)]
    assert turns == [["b", "c", "a"], ["c", "a", "b"], ["a", "b", "c"], ["b", "c", "a"]]


def test_the_steps_of_a_breaker_reach_each_flow_once_and_what_is_given_back_again() -> None:
    flows = Flows(["a", "b"], Breaker([lambda _: True], slow_by=0.5, floor=0.01, recover_by=1.0))
    for _ in range(2):
        flows.observe("north", Retry("slow down"))
    one, other = flows.in_turn()
    sent = one.values()
    assert (sent["slowed"], sent["factors"]) == (["north"], [0.25])
    assert one.values()["slowed"] == []
    one.slow("north", 0.25)  # the claim gave up
    flows.observe("north", Retry("slow down"))
    assert one.values()["factors"] == other.values()["factors"] == [0.125]
