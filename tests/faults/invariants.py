"""What must hold after every round, whatever happened in it: each a comparison of what was asked with what is."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID

from tests.faults.facts import Action, Facts
from tests.faults.load import Asked
from tests.faults.works import BY_ACTION, callbacks_of

Submitted = Mapping[UUID, Asked]
KNOWN_ENTRIES = {"lost_worker", "archive"}  # a worker that died or froze; a store that was full


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing that does not hold."""

    rule: str
    text: str
    uuid: UUID | None = None


Rule = Callable[[Submitted, Facts], Iterator[Violation]]


def nothing_lost(submitted: Submitted, facts: Facts) -> Iterator[Violation]:
    """All that was confirmed to the submitter is there, once, and has come to its end; so have the callbacks."""
    for uuid, asked in submitted.items():
        if uuid not in facts.actions:
            yield Violation("nothing lost", f"{asked.key} was confirmed and is not there", uuid)
    for action in facts.actions.values():
        if not action.ended or action.callbacks_due:
            due = ", its callbacks are due" if action.callbacks_due else ""
            yield Violation("nothing lost", f"{named(action)} is still {action.status}{due}", action.uuid)
    for uuid in facts.records_missing:
        yield Violation("nothing lost", "its end tells of a record that is not in the store", uuid)


def nothing_invented(submitted: Submitted, facts: Facts) -> Iterator[Violation]:
    """What nobody asked for is not there, and is not delivered. Ticks and members are checked in set_rules.py."""
    for action in facts.actions.values():
        if is_tick(action) or action.member_of is not None:
            continue
        if action.parent is None and action.uuid not in submitted:
            yield Violation("nothing invented", f"{named(action)} was never confirmed", action.uuid)
    for uuid in facts.arrived.keys() - facts.actions.keys():
        yield Violation("nothing invented", "a webhook of an action that is not there", uuid)


def delivered_as_promised(_: Submitted, facts: Facts) -> Iterator[Violation]:
    """At-most-once arrives once at most; what is SUCCESSFUL was taken by its receiver."""
    for action in facts.actions.values():
        arrived, taken = facts.arrived[action.uuid], facts.taken[action.uuid]
        if action.name == "once" and arrived > 1:
            yield Violation("at most once", f"{named(action)} arrived {arrived} times", action.uuid)
        if action.name in ("often", "once", "laned") and action.status == "SUCCESSFUL" and not taken:
            yield Violation("at least once", f"{named(action)} is SUCCESSFUL and was not taken", action.uuid)


def started_once(_: Submitted, facts: Facts) -> Iterator[Violation]:
    """A run of a local process starts once, and only for an action that is there."""
    for line, count in facts.starts.items():
        uuid = UUID(line.split()[0])
        if count > 1:
            yield Violation("started once", f"run {line.split()[1]} was started {count} times", uuid)
        if uuid not in facts.actions:
            yield Violation("started once", "a process of an action that is not there", uuid)


def ledger_agrees(_: Submitted, facts: Facts) -> Iterator[Violation]:
    """Folding the events gives the threads, and a run has one end."""
    for contradiction in facts.contradictions:
        yield Violation("fold = thread", contradiction)


def nothing_left(_: Submitted, facts: Facts) -> Iterator[Violation]:
    """No lock on a thread, no slot of a limit, no execution at its backend, no dead worker that counts as alive."""
    for lock in facts.locks:
        yield Violation("no lock left", lock)
    for slot in facts.slots:
        yield Violation("no slot left", slot)
    for what in facts.left_over:
        yield Violation("nothing left", what)
    for worker in facts.unnoticed:
        yield Violation("nothing left", f"nobody missed the worker {worker}")


def callbacks_as_configured(submitted: Submitted, facts: Facts) -> Iterator[Violation]:
    """Each end has exactly the callbacks that the configuration has for it, with the parameters they should have."""
    children: dict[UUID, list[Action]] = defaultdict(list)
    for action in facts.actions.values():
        if action.parent is not None:
            children[action.parent].append(action)
    for uuid, action in facts.actions.items():
        asked = submitted.get(uuid)
        own = Counter(callback["name"] for callback in asked.work.callbacks) if asked else Counter()
        expected = callbacks_of(action.workflow, action.status, action.parameters) + own
        found = Counter(child.callback for child in children[uuid])
        if found != expected:
            text = f"{named(action)}, {action.status}: {dict(found)} instead of {dict(expected)}"
            yield Violation("callbacks", text, uuid)
        for child in children[uuid]:
            yield from _told_the_truth(action, child)


def _told_the_truth(parent: Action, child: Action) -> Iterator[Violation]:
    said = child.parameters
    if "status" in said and (said["status"], said["n"]) != (parent.status, parent.parameters["n"]):
        yield Violation("callbacks", f"{named(child)} says {said} of {parent}", child.uuid)


def failures_explained(submitted: Submitted, facts: Facts) -> Iterator[Violation]:
    """Ends are among those that were meant or cannot be helped; a failure says why, and is in the inbox."""
    for action in facts.actions.values():
        if not action.ended:
            continue  # lost, which is reported elsewhere
        asked = submitted.get(action.uuid)
        allowed = asked.work.ends if asked else BY_ACTION.get(action.name, {})
        if action.status not in allowed:
            text = f"{named(action)} ended {action.status}: {action.error}"
            yield Violation("ends as meant", text, action.uuid)
        elif not re.search(allowed[action.status], action.error or ""):
            text = f"{named(action)}, {action.status}, gives the reason {action.error!r}"
            yield Violation("failures explained", text, action.uuid)
        wanted = action.status not in ("SUCCESSFUL", "CANCELED")
        if action.needs_review != wanted or action.in_inbox != wanted:
            text = f"{named(action)}, {action.status}: review {action.needs_review}, inbox {action.in_inbox}"
            yield Violation("failures explained", text, action.uuid)


def inbox_is_right(_: Submitted, facts: Facts) -> Iterator[Violation]:
    """Every lost worker is in the inbox, and nothing that this campaign cannot have caused."""
    for worker in facts.lost - {subject for kind, subject, _ in facts.entries if kind == "lost_worker"}:
        yield Violation("failures explained", f"the lost worker {worker} is not in the inbox")
    for kind, subject, error in facts.entries:
        if kind not in KNOWN_ENTRIES or not error:
            yield Violation("failures explained", f"in the inbox: {kind} {subject}: {error!r}")


def programs_stayed(_: Submitted, facts: Facts) -> Iterator[Violation]:
    """None gave up by itself, except where what it needs to start was away (exit 75); all work again."""
    for end in facts.strange_ends:
        yield Violation("programs stay", end)
    for who in facts.absent:
        yield Violation("programs stay", f"workers that beat, {who}")


def within_limits(_: Submitted, facts: Facts) -> Iterator[Violation]:
    """By the receiver's own count, no more is open at once, and no more comes in a time, than the limits allow."""
    for excess in facts.excesses:
        yield Violation("within limits", excess)


def neighbours_kept_apart(_: Submitted, facts: Facts) -> Iterator[Violation]:
    """What hostile neighbours submitted has ended, and nothing of theirs reached beyond it."""
    if facts.neighbours_open:
        yield Violation("neighbours", f"{facts.neighbours_open} of their actions have not ended")
    for trespass in facts.trespasses:
        yield Violation("neighbours", trespass)


RULES: tuple[Rule, ...] = (
    nothing_lost,
    nothing_invented,
    delivered_as_promised,
    started_once,
    ledger_agrees,
    nothing_left,
    callbacks_as_configured,
    failures_explained,
    inbox_is_right,
    programs_stayed,
    within_limits,
    neighbours_kept_apart,
)


def violations(submitted: Submitted, facts: Facts) -> list[Violation]:
    """Everything that does not hold."""
    return [violation for rule in RULES for violation in rule(submitted, facts)]


def is_tick(action: Action) -> bool:
    """Whether a schedule submitted it."""
    return (action.correlation or "").startswith("schedule ")


def named(action: Action) -> str:
    what = action.workflow or action.callback or action.key or "action"
    return f"{action.name} {what} {action.uuid}"
