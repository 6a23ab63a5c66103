"""The kinds of work that the load asks for, and everything that may come of each."""

import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Parameters = dict[str, Any]

# Of an at-most-once webhook: it may have arrived, and nobody can know. Nothing else may stop one.
UNKNOWN = r"may have been (done|sent).*\(at_most_once\)"
# Of a webhook that no receiver took: what the last one answered, or that there was none.
UNANSWERED = r"answered 50\d|^127\.0\.0\.1:\d+: "
FINE: Mapping[str, str] = {"SUCCESSFUL": ""}
BY_ACTION: Mapping[str, Mapping[str, str]] = {
    "often": FINE,
    "once": {"SUCCESSFUL": "", "FAILED": UNKNOWN},
    "drill": FINE,
    "run": FINE,
}
"""The ends that a callback may have, by its action; the failures with what their error must say."""


@dataclass(frozen=True)
class Work:
    """What is asked for; `ends` are the statuses it may end with, each with what its error must say."""

    name: str
    share: int
    action: str
    make: Callable[[random.Random, int], Parameters]
    ends: Mapping[str, str]
    workflow: str | None = None
    callbacks: tuple[Mapping[str, Any], ...] = ()
    cancel: bool = False


def hook(how: str) -> Callable[[random.Random, int], Parameters]:
    return lambda chance, n: {"how": how, "n": n}


def laned(chance: random.Random, n: int) -> Parameters:
    # One lane gets half of them, more than its rate allows at once.
    return {"how": "accept", "n": n, "lane": f"lane {chance.choice([0, 0, 0, 0, 1, 2, 3, 4])}"}


def steps(*codes: int, longest: float = 1.0) -> Callable[[random.Random, int], Parameters]:
    """A local process that ends with these codes in its first runs, and well in those after."""

    def make(chance: random.Random, n: int) -> Parameters:
        seconds = round(chance.uniform(0, longest), 2)
        return {"n": n, "seconds": seconds, "codes": list(codes), "items": chance.randrange(4)}

    return make


AFTER = {"name": "after", "action": "drill"}
WEBHOOKS = (
    Work("accepted", 24, "often", hook("accept"), FINE),
    Work("once", 24, "once", hook("accept"), BY_ACTION["once"]),
    Work("flaky", 6, "often", hook("flaky"), FINE),
    Work("followed", 4, "often", hook("accept"), FINE, callbacks=(AFTER,)),
    Work("refused", 4, "often", hook("refuse"), {"FAILED": "answered 400"}),
    Work("hopeless", 2, "hopeless", hook("fail"), {"RETRIES_EXHAUSTED": UNANSWERED}),
    Work("laned", 12, "laned", laned, FINE),
    Work("drill", 16, "drill", hook("accept"), FINE),
)  # fmt: skip
# What a process said last may not have fitted on the disk; how it ended is always there.
LOCAL = (
    Work("work", 8, "run", steps(), FINE, "work"),
    Work("repeated", 3, "run", steps(75), FINE, "work"),
    Work("chained", 3, "run", steps(), FINE, "first"),
    Work("bad", 3, "run", steps(*50 * [65]), {"FAILED": "exit code 65"}, "work"),
    Work("canceled", 3, "run", lambda chance, n: {"n": n, "seconds": 300, "codes": [], "items": 1},
         {"CANCELED": "canceled by (the campaign|anonymous)"}, "work", cancel=True),
)  # fmt: skip


def callbacks_of(workflow: str | None, status: str, parameters: Parameters) -> Counter[str]:
    """The callbacks that the configuration has for that end, by name: said here a second time, on purpose."""
    good = status == "SUCCESSFUL"
    plain = Counter(done=1, reported=good, sorry=not good)
    expected: dict[str | None, Counter[str]] = {
        **dict.fromkeys(("assess", "good", "late", "broken", "tile"), plain),
        "work": plain + Counter(item=parameters.get("items", 0) if good else 0),
        "first": Counter(done=1, next=good),
        "report": Counter(done=1),
    }
    return +expected.get(workflow, Counter())
