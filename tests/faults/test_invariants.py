"""Every rule finds what it is there to find, and nothing in a yard where all is well."""

from collections import Counter
from dataclasses import replace
from uuid import UUID, uuid4

import pytest

from tests.faults.facts import Action, Facts
from tests.faults.invariants import violations
from tests.faults.load import Asked
from tests.faults.works import LOCAL, WEBHOOKS

WORKS = {work.name: work for work in (*WEBHOOKS, *LOCAL)}
ONCE, FLOW, DONE, REPORTED, ITEM, REFUSED = (uuid4() for _ in range(6))
GIVEN = {"n": 7, "seconds": 0, "codes": [], "items": 1}
TELLS = {"how": "accept", "n": 7, "status": "SUCCESSFUL"}
SUBMITTED = {
    ONCE: Asked("once-1", WORKS["once"], {"how": "accept", "n": 1}),
    FLOW: Asked("work-2", WORKS["work"], GIVEN),
    REFUSED: Asked("refused-3", WORKS["refused"], {"how": "refuse", "n": 3}),
}
WELL = Facts(
    actions={
        ONCE: Action(ONCE, "once", None, None, None, "once-1", {"how": "accept", "n": 1}, "SUCCESSFUL"),
        FLOW: Action(FLOW, "run", "work", None, None, "work-2", GIVEN, "SUCCESSFUL", archived=True),
        DONE: Action(DONE, "often", None, "done", FLOW, None, TELLS, "SUCCESSFUL"),
        REPORTED: Action(REPORTED, "once", None, "reported", FLOW, None, TELLS, "SUCCESSFUL"),
        ITEM: Action(ITEM, "drill", None, "item", FLOW, None, {"place": 0}, "SUCCESSFUL"),
        REFUSED: Action(
            REFUSED, "often", None, None, None, "refused-3", {"how": "refuse", "n": 3}, "FAILED",
            error="answered 400 Bad Request", needs_review=True, in_inbox=True,
        ),
    },
    entries=[("lost_worker", "w1", "has sent no heartbeat")],
    lost={"w1"},
    arrived=Counter({ONCE: 1, DONE: 2, REPORTED: 1, REFUSED: 1}),
    taken=Counter({ONCE: 1, DONE: 1, REPORTED: 1}),
    starts=Counter({f"{FLOW} 1": 1}),
)  # fmt: skip


def with_(uuid: UUID, **changes: object) -> Facts:
    return replace(WELL, actions={**WELL.actions, uuid: replace(WELL.actions[uuid], **changes)})  # type: ignore[arg-type]


def without(uuid: UUID) -> Facts:
    return replace(WELL, actions={each: action for each, action in WELL.actions.items() if each != uuid})


def and_(uuid: UUID, action: Action) -> Facts:
    return replace(WELL, actions={**WELL.actions, uuid: action})


STRANGER = uuid4()
BROKEN: dict[str, tuple[str, Facts]] = {
    "gone": ("nothing lost", without(ONCE)),
    "open": ("nothing lost", with_(FLOW, status="QUEUED", ended=False)),
    "callbacks due": ("nothing lost", with_(FLOW, callbacks_due=True)),
    "record gone": ("nothing lost", replace(WELL, records_missing=[FLOW])),
    "stranger": (
        "nothing invented",
        and_(STRANGER, Action(STRANGER, "drill", None, None, None, "x", {}, "SUCCESSFUL")),
    ),
    "strange webhook": ("nothing invented", replace(WELL, arrived=WELL.arrived + Counter({STRANGER: 1}))),
    "once twice": ("at most once", replace(WELL, arrived=WELL.arrived + Counter({ONCE: 1}))),
    "callback once twice": ("at most once", replace(WELL, arrived=WELL.arrived + Counter({REPORTED: 1}))),
    "never taken": ("at least once", replace(WELL, taken=WELL.taken - Counter({DONE: 1}))),
    "started twice": ("started once", replace(WELL, starts=Counter({f"{FLOW} 1": 2}))),
    "strange process": ("started once", replace(WELL, starts=Counter({f"{STRANGER} 1": 1}))),
    "contradiction": ("fold = thread", replace(WELL, contradictions=["thread differs"])),
    "lock": ("no lock left", replace(WELL, locks=["one"])),
    "slot": ("no slot left", replace(WELL, slots=["lane 1 of laned counts 1 in flight"])),
    "execution left": ("nothing left", replace(WELL, left_over=["in the spool: x"])),
    "unnoticed": ("nothing left", replace(WELL, unnoticed=["conductor once w2"])),
    "callback missing": ("callbacks", without(REPORTED)),
    "callback twice": (
        "callbacks",
        and_(STRANGER, Action(STRANGER, "often", None, "done", FLOW, None, TELLS, "SUCCESSFUL")),
    ),
    "callback of another end": ("callbacks", with_(DONE, parameters={**TELLS, "status": "FAILED"})),
    "failed for no reason": ("ends as meant", with_(DONE, status="RETRIES_EXHAUSTED", needs_review=True)),
    "once failed otherwise": ("failures explained", with_(ONCE, status="FAILED", error="who knows")),
    "not in the inbox": ("failures explained", with_(REFUSED, in_inbox=False)),
    "no reason": ("failures explained", with_(REFUSED, error=None)),
    "success in the inbox": ("failures explained", with_(FLOW, needs_review=True)),
    "lost in silence": ("failures explained", replace(WELL, lost={"w1", "w2"})),
    "strange entry": ("failures explained", replace(WELL, entries=[*WELL.entries, ("strange_run", "x", "y")])),
    "limit exceeded": ("within limits", replace(WELL, excesses=["3 requests of lane 1 were open at once"])),
    "neighbour open": ("neighbours", replace(WELL, neighbours_open=1)),
    "trespass": ("neighbours", replace(WELL, trespasses=["a copy ended sessions"])),
    "never came back": ("programs stay", replace(WELL, absent=["conductor once: 2 of 3"])),
    "gave up": ("programs stay", replace(WELL, strange_ends=["conductor-1 ended by itself with 1"])),
}  # fmt: skip


def test_where_all_is_well_nothing_is_found() -> None:
    assert violations(SUBMITTED, WELL) == []


def test_a_webhook_that_may_have_arrived_is_a_failure_that_cannot_be_helped() -> None:
    error = "may have been sent, and is never sent twice (at_most_once): no answer within 2 s"
    facts = with_(ONCE, status="FAILED", error=error, needs_review=True, in_inbox=True)
    assert violations(SUBMITTED, facts) == []


@pytest.mark.parametrize("what", BROKEN)
def test_each_rule_finds_what_it_is_there_to_find(what: str) -> None:
    rule, facts = BROKEN[what]
    assert rule in {found.rule for found in violations(SUBMITTED, facts)}
