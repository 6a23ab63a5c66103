"""What a round asks for beside single actions: a schedule, a campaign, a join, and a workflow whose results are reused."""

from tests.faults.works import BY_ACTION, FINE, Work, hook, steps

AFTER = {"name": "after", "action": "drill"}
JOINED = {"name": "joined", "action": "once", "parameters": {"how": {"value": "accept"}}}
BOTH = (AFTER, JOINED)

CAMPAIGN = Work("campaign", 0, "campaign", hook("accept"), FINE, callbacks=BOTH)
JOIN = Work("join", 0, "often", hook("accept"), FINE, callbacks=BOTH)
# A join is not released before a receiver has taken each of them, which the receivers' clock shows.
CHILDREN = (
    Work("child", 8, "often", hook("accept"), FINE),
    Work("late child", 3, "often", hook("flaky"), FINE),
    Work("child once", 2, "once", hook("accept"), BY_ACTION["once"]),
    Work("refused child", 1, "often", hook("refuse"), {"FAILED": "answered 400"}),
)
TILE = Work("tile", 0, "run", steps(longest=2.0), FINE, "tile")
CANCELED_TILE = Work(
    "canceled tile", 0, "run", steps(longest=2.0), {"SUCCESSFUL": "", "CANCELED": "canceled by the campaign"}, "tile", cancel=True
)  # fmt: skip
