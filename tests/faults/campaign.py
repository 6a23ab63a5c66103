"""Rounds of load and faults on one yard, and after each the invariants over everything there is so far."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import psycopg

from tests.faults.catalogue import INJECTIONS, kinds
from tests.faults.facts import Facts, gather, settled
from tests.faults.invariants import Submitted, Violation, violations
from tests.faults.load import Submitter
from tests.faults.plan import Fault, plan
from tests.faults.set_rules import set_violations
from tests.faults.sets import Sets
from tests.faults.storm import Struck, storm
from tests.faults.yard import Yard

SETTLE = 120.0


@dataclass(frozen=True)
class Round:
    """What one round did and found."""

    number: int
    struck: list[Struck]
    submitted: int
    actions: int
    stormed: float
    settled: float
    ends: Counter[tuple[str, str]]  # what became of the work so far, by its name and status
    found: list[Violation] = field(default_factory=list)

    @property
    def hits(self) -> Counter[str]:
        return Counter(each.fault.kind for each in self.struck if each.hit)


def campaign(yard: Yard, seed: int, faults: int, a_round: int, load: int) -> Iterator[Round]:
    """Rounds until the faults are used up, or something does not hold: then what is there is the evidence."""
    url = f"postgresql://postgres@127.0.0.1:{yard.submitting.port}/postgres"
    submitter = Submitter(url, yard.works, seed, yard.signalboxes)
    sets = Sets(url, seed)
    try:
        for number, planned in enumerate(plan(seed, faults, a_round, kinds(yard)), 1):
            done = _round(yard, submitter, sets, number, planned, load)
            yield done
            if done.found:
                return
    finally:
        submitter.close()
        sets.close()


def _round(
    yard: Yard, submitter: Submitter, sets: Sets, number: int, planned: list[Fault], load: int
) -> Round:
    began = time.monotonic()
    seconds = max(fault.at for fault in planned)
    submitting = [submitter.begin(load, seconds), sets.begin(seconds)]
    struck = storm(yard, planned, INJECTIONS)
    for thread in submitting:
        thread.join(SETTLE)
        assert not thread.is_alive(), "there was no answer for some of what was submitted"
    assert len(submitter.submitted) == number * load
    sets.end()
    stormed = time.monotonic()
    facts = settle(yard)
    submitted = {**submitter.submitted, **sets.submitted}
    found = violations(submitted, facts) + set_violations(sets.rounds, facts)
    found += [Violation("answers over HTTP", strange) for strange in submitter.http.strange]
    return Round(
        number,
        struck,
        submitted=load,
        actions=len(facts.actions),
        stormed=stormed - began,
        settled=time.monotonic() - stormed,
        ends=_ends(submitted, facts),
        found=found,
    )


def settle(yard: Yard, seconds: float = SETTLE) -> Facts:
    """Wait for the end of everything, but not for ever; the facts as they are then."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        yard.tend()
        if _tried(lambda: settled(yard)):
            break
        time.sleep(0.25)
    return gather(yard)


def _ends(submitted: Submitted, facts: Facts) -> Counter[tuple[str, str]]:
    named = {uuid: submitted[uuid].work.name if uuid in submitted else "callback" for uuid in facts.actions}
    return Counter((named[uuid], action.status) for uuid, action in facts.actions.items())


def _tried(look: Callable[[], bool]) -> bool:
    try:
        return look()
    except psycopg.OperationalError:
        return False
