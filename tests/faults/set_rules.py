"""What must hold of the sets of every round: one action per tick, no item missed or twice, a join after its last
child, one execution per key."""

from collections import Counter
from collections.abc import Iterator, Sequence

from tests.faults.facts import Facts, Tick
from tests.faults.invariants import Violation, is_tick, named
from tests.faults.sets import EVERY, ITEMS, Wanted


def one_action_per_tick(rounds: Sequence[Wanted], facts: Facts) -> Iterator[Violation]:
    """Every tick from the first to the pause has fired, once, and nothing else has."""
    rule = "one action per tick"
    for wanted in rounds:
        next_at, missed = facts.schedules.get(wanted.schedule, (wanted.first_tick, 0))
        if wanted.schedule not in facts.schedules or missed:
            yield Violation(rule, f"the schedule {wanted.schedule} is gone, or missed {missed}")
        ticks = {tick.at: tick for tick in facts.ticks if tick.schedule == wanted.schedule}
        for at in range(wanted.first_tick, next_at, EVERY):
            if at not in ticks or ticks[at].outcome != "fired":
                yield Violation(rule, f"the tick {at} of {wanted.schedule}: {ticks.get(at)}")
        for at in ticks.keys() - set(range(wanted.first_tick, next_at, EVERY)):
            yield Violation(rule, f"{wanted.schedule} has no tick {at}", ticks[at].action)
    yield from _ticks_and_actions(rule, facts.ticks, facts)


def _ticks_and_actions(rule: str, ticks: Sequence[Tick], facts: Facts) -> Iterator[Violation]:
    fired = {tick.action: tick for tick in ticks if tick.action is not None}
    for action in facts.actions.values():
        if is_tick(action) and action.uuid not in fired:
            yield Violation(rule, f"{named(action)}, {action.correlation}, is of no tick", action.uuid)
    for uuid in fired.keys() - facts.actions.keys():
        yield Violation(rule, f"the action of {fired[uuid]} is not there", uuid)


def no_item_missed_or_twice(rounds: Sequence[Wanted], facts: Facts) -> Iterator[Violation]:
    """Each item of each campaign has one action, and no campaign has others."""
    rule = "each item once"
    members: dict[object, Counter[object]] = {wanted.campaign: Counter() for wanted in rounds}
    for action in facts.actions.values():
        if action.member_of is None:
            continue
        if action.member_of not in members:
            yield Violation(rule, f"{named(action)} is of a campaign that nobody started", action.uuid)
        else:
            members[action.member_of][action.parameters.get("n")] += 1
    for campaign, counts in members.items():
        wrong = {n for n in counts.keys() | set(range(ITEMS)) if counts[n] != (n in range(ITEMS))}
        if wrong:
            yield Violation(rule, f"items that {campaign} has too often or not: {sorted(wrong, key=str)}")


def joined_after_the_last(rounds: Sequence[Wanted], facts: Facts) -> Iterator[Violation]:
    """By the receivers' clock: the join arrives when each of its children has been taken."""
    for wanted in rounds:
        if wanted.join is None or wanted.join not in facts.first_arrived:
            yield Violation(
                "joined after the last", f"the join of {wanted.schedule} did not arrive", wanted.join
            )
            continue
        for child in wanted.children:
            taken = facts.first_taken.get(child)
            if taken is not None and taken > facts.first_arrived[wanted.join]:
                text = (
                    f"child {child} was taken {taken - facts.first_arrived[wanted.join]:.3f} s after its join"
                )
                yield Violation("joined after the last", text, wanted.join)


def one_execution_per_key(rounds: Sequence[Wanted], facts: Facts) -> Iterator[Violation]:
    """One of those that asked has computed; every other one that was not canceled has its result."""
    rule = "one execution per key"
    started = {line.split()[0] for line in facts.starts}
    for tile, callers in ((tile, callers) for wanted in rounds for tile, callers in wanted.tiles.items()):
        there = [facts.actions[uuid] for uuid in callers if uuid in facts.actions]
        successful = [action for action in there if action.status == "SUCCESSFUL"]
        computed = [action.uuid for action in successful if action.reused is None]
        if len(computed) != (1 if successful else 0):
            yield Violation(rule, f"tile {tile} was computed by {computed}", callers[0])
        for action in successful:
            if action.reused is not None and action.reused not in computed:
                text = f"{named(action)} has the result of {action.reused}, {computed} computed"
                yield Violation(rule, text, action.uuid)
            if action.reused is not None and str(action.uuid) in started:
                yield Violation(rule, f"{named(action)} reused a result, and was started", action.uuid)


RULES = (one_action_per_tick, no_item_missed_or_twice, joined_after_the_last, one_execution_per_key)


def set_violations(rounds: Sequence[Wanted], facts: Facts) -> list[Violation]:
    """Everything that does not hold of sets."""
    return [violation for rule in RULES for violation in rule(rounds, facts)]
