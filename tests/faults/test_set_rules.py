"""Every rule about sets finds what it is there to find, and nothing where all is well."""

from collections import Counter
from dataclasses import replace
from uuid import UUID, uuid4

import pytest

from tests.faults.facts import Action, Facts, Tick
from tests.faults.set_rules import set_violations
from tests.faults.sets import EVERY, ITEMS, Wanted

FIRST = 1_800_000_000
TICKS = [uuid4() for _ in range(3)]
MEMBERS = [uuid4() for _ in range(ITEMS)]
CAMPAIGN, JOIN, CHILD, LEADER, FOLLOWER, CANCELED = (uuid4() for _ in range(6))
ROUND = Wanted(
    "round 1", FIRST, CAMPAIGN, JOIN, [CHILD], {"1-0": [LEADER, FOLLOWER, CANCELED]}
)  # fmt: skip


def action(uuid: UUID, name: str = "often", status: str = "SUCCESSFUL", n: int = 1, **more: object) -> Action:
    return Action(uuid, name, None, None, None, None, {"n": n}, status, **more)  # type: ignore[arg-type]


ACTIONS = [
    *(action(uuid, "drill", correlation=f"schedule round 1 {uuid}") for uuid in TICKS),
    *(action(uuid, n=n, member_of=CAMPAIGN) for n, uuid in enumerate(MEMBERS)),
    *(action(uuid) for uuid in (CAMPAIGN, JOIN, CHILD)),
    action(LEADER, "run"),
    action(FOLLOWER, "run", reused=LEADER),
    action(CANCELED, "run", "CANCELED"),
]
WELL = Facts(
    {each.uuid: each for each in ACTIONS},
    ticks=[Tick("round 1", FIRST + EVERY * place, "fired", uuid) for place, uuid in enumerate(TICKS)],
    schedules={"round 1": (FIRST + EVERY * len(TICKS), 0)},
    first_arrived={CHILD: 1.0, JOIN: 3.0},
    first_taken={CHILD: 2.0, JOIN: 3.5},
    starts=Counter({f"{LEADER} 1": 1, f"{LEADER} 2": 1, f"{CANCELED} 1": 1}),
)


def with_(uuid: UUID, **changes: object) -> Facts:
    return replace(WELL, actions={**WELL.actions, uuid: replace(WELL.actions[uuid], **changes)})  # type: ignore[arg-type]


def without(uuid: UUID) -> Facts:
    return replace(WELL, actions={each: action for each, action in WELL.actions.items() if each != uuid})


STRANGER = uuid4()
BROKEN: dict[str, tuple[str, Facts]] = {
    "a tick did not fire": ("one action per tick", replace(WELL, ticks=WELL.ticks[:1] + WELL.ticks[2:])),
    "a tick was skipped": (
        "one action per tick",
        replace(WELL, ticks=[*WELL.ticks[:2], replace(WELL.ticks[2], outcome="skipped", action=None)]),
    ),
    "a tick between two": (
        "one action per tick",
        replace(WELL, ticks=[*WELL.ticks, Tick("round 1", FIRST + 1, "fired", CHILD)]),
    ),
    "a tick after the pause": (
        "one action per tick",
        replace(WELL, ticks=[*WELL.ticks, Tick("round 1", FIRST + 99 * EVERY, "fired", CHILD)]),
    ),
    "missed ticks": ("one action per tick", replace(WELL, schedules={"round 1": (FIRST + 3 * EVERY, 1)})),
    "no schedule": ("one action per tick", replace(WELL, schedules={}, ticks=[])),
    "an action of no tick": ("one action per tick", with_(CHILD, correlation="schedule round 1 again")),
    "a tick without its action": ("one action per tick", without(TICKS[1])),
    "an item missed": ("each item once", without(MEMBERS[7])),
    "an item twice": ("each item once", with_(MEMBERS[7], parameters={"n": 8})),
    "one item too many": ("each item once", with_(CHILD, member_of=CAMPAIGN)),
    "of no campaign": ("each item once", with_(CHILD, member_of=STRANGER)),
    "joined before a child": ("joined after the last", replace(WELL, first_taken={CHILD: 3.1})),
    "never joined": ("joined after the last", replace(WELL, first_arrived={CHILD: 1.0})),
    "computed twice": ("one execution per key", with_(FOLLOWER, reused=None)),
    "computed by nobody": ("one execution per key", with_(LEADER, reused=LEADER)),
    "result of another key": ("one execution per key", with_(FOLLOWER, reused=CHILD)),
    "started and reused": (
        "one execution per key",
        replace(WELL, starts=WELL.starts + Counter({f"{FOLLOWER} 1": 1})),
    ),
}


def test_where_all_is_well_nothing_is_found() -> None:
    assert set_violations([ROUND], WELL) == []


@pytest.mark.parametrize("what", BROKEN)
def test_each_rule_finds_what_it_is_there_to_find(what: str) -> None:
    rule, facts = BROKEN[what]
    assert rule in {found.rule for found in set_violations([ROUND], facts)}
