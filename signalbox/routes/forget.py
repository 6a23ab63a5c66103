"""Forgetting results: they are no longer reused, and actions that wait for one of them compute it again."""

from signalbox.access.roles import Role
from signalbox.endpoint import Call, get, post
from signalbox.problem import HttpProblem
from signalbox.records.confirm import Confirmation
from signalbox.records.decisions import Computed, Forget, Forgotten
from signalbox.routes.decisions import check_count
from switchyard.ledger.queries import query as named


@post("/results:forget", Role.OPERATOR, after="/journal")
async def forget_results(call: Call, body: Forget) -> Forgotten:
    """Reuse all chosen results no more, if they are as many as expected."""
    forgotten = await _forget(call, body.filter, body.reason, dry_run=False)
    check_count("results", forgotten, body.expected)  # the change is rolled back if the number differs
    return Forgotten(forgotten=forgotten)


@get("/results:forget", Role.OPERATOR, template="confirm")
async def confirm_forget_results(call: Call, query: Computed) -> Confirmation:
    """How many results would be forgotten."""
    count = await _forget(call, query, "count", dry_run=True)
    facts = {name: str(value) for name, value in query.model_dump(exclude_none=True).items()}
    return Confirmation(
        title=f"Forget {count:,} of the results",
        text="They are not reused any more, and jobs that wait for one of them compute it themselves. No file"
        " is deleted. Nothing is done if their number has changed when you confirm.",
        facts={name.capitalize(): value for name, value in facts.items()},
        action="/results:forget",
        hidden=[*((f"filter.{name}", value) for name, value in facts.items()), ("expected", str(count))],
        count=count,
        button=f"Forget {count:,}",
        hint="what is wrong with them",
        danger=True,
        back="/jobs" if query.action is None else f"/jobs/{query.action}",
    )


async def _forget(call: Call, chosen: Computed, reason: str, *, dry_run: bool) -> int:
    if not chosen.model_dump(exclude_none=True):
        raise HttpProblem(422, "/filter: must have at least one field")
    values = {**chosen.model_dump(), "actor": call.caller.name, "reason": reason, "dry_run": dry_run}
    row = await call.row(named("results", "forget"), values)
    assert row is not None
    return int(row["forgotten"])
