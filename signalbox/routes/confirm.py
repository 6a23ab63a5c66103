"""The pages behind buttons: what will happen, how many actions are affected, and a field for the reason."""

from typing import Annotated, Any
from urllib.parse import quote
from uuid import UUID

from pydantic import BeforeValidator, Field

from signalbox.access.roles import Role
from signalbox.endpoint import Call, get
from signalbox.pages.words import many, word
from signalbox.problem import HttpProblem
from signalbox.records.base import Record
from signalbox.records.confirm import Confirmation
from signalbox.records.decisions import Text
from signalbox.routes.decisions import chosen
from signalbox.routes.jobs import job as read_job
from signalbox.routes.queues import queues

CHANGED = "what has changed since it failed"
AGAIN = "The next run starts with the same parameters. What ran before stays in the history."


class Selection(Record):
    """A selection of actions: those ticked on a page, or all that match."""

    id: Annotated[
        list[UUID],
        BeforeValidator(lambda value: value if isinstance(value, list) else [value]),
        Field(max_length=1000),
    ] = []  # noqa: RUF012 - pydantic copies it
    """The ids of the actions."""
    cause: Text | None = None
    """All of this cause."""
    name: Text | None = None
    """All of this action name."""
    workflow: Text | None = None
    """All of this workflow."""
    error: Text | None = None
    """All with an error that contains this text."""
    correlation_id: Text | None = None
    """All with this correlation id."""

    def chosen(self) -> dict[str, Any]:
        """The selection as a filter; 400 if nothing is selected."""
        given = self.model_dump(exclude_none=True, exclude={"id"})
        if self.id:
            given["jobs"] = self.id
        if not given:
            raise HttpProblem(400, "nothing is selected: tick at least one job")
        return given


@get("/queues/{name:path}/pause", Role.OPERATOR, template="confirm")
async def confirm_pause(call: Call, name: str) -> Confirmation:
    """What a pause of this action name would hold back."""
    return Confirmation(
        title=f"Pause {name}",
        text="Conductors claim no more actions of this name until it is resumed. Actions in flight continue.",
        facts={"Open now": f"{await _open_under(call, name):,}"},
        action=f"/queues/{quote(name, safe='')}/pause",
        button=f"Pause {name}",
        hint="why, and until when",
        back="/queues",
    )


@get("/queues/{name:path}/resume", Role.OPERATOR, template="confirm")
async def confirm_resume(call: Call, name: str) -> Confirmation:
    """What a resume of this action name would continue."""
    return Confirmation(
        title=f"Resume {name}",
        text="What waits under this action name is claimed again, by priority and then by age.",
        facts={"Open now": f"{await _open_under(call, name):,}"},
        action=f"/queues/{quote(name, safe='')}/resume",
        button=f"Resume {name}",
        hint="what has changed",
        back="/queues",
    )


@get("/jobs/{job}/retrigger", Role.OPERATOR, template="confirm")
async def confirm_retrigger(call: Call, job: UUID) -> Confirmation:
    """What a retrigger of this job would do."""
    found = await read_job(call, job)
    facts = {
        "Process": found.processID,
        "Ended": word(found.switchyard.status),
        "Error": found.switchyard.error or "",
    }
    return Confirmation(
        title=f"Retrigger job {_end(job)}",
        text=AGAIN,
        facts=facts,
        action=f"/jobs/{job}/retrigger",
        resumes=True,
        button="Retrigger 1 job",
        hint=CHANGED,
        back=f"/jobs/{job}",
    )


@get("/jobs/{job}/cancel", Role.OPERATOR, template="confirm")
async def confirm_cancel(call: Call, job: UUID) -> Confirmation:
    """What a cancellation of this job would end."""
    found = await read_job(call, job)
    return Confirmation(
        title=f"Cancel job {_end(job)}",
        text="It ends as canceled. Its backend is asked to stop what runs there.",
        facts={"Process": found.processID, "Status": word(found.switchyard.status)},
        action=f"/jobs/{job}/cancel",
        button="Cancel 1 job",
        hint="why it must not continue",
        danger=True,
        back=f"/jobs/{job}",
    )


@get("/jobs/{job}/call-back", Role.OPERATOR, template="confirm")
async def confirm_call_back(call: Call, job: UUID) -> Confirmation:
    """What making the callbacks of this job again would send."""
    found = await read_job(call, job)
    return Confirmation(
        title=f"Make the callbacks of job {_end(job)} again",
        text="Every callback of its end is made again. Receivers know a repeated one by its content.",
        facts={"Process": found.processID, "Status": word(found.switchyard.status)},
        action=f"/jobs/{job}/call-back",
        button="Make callbacks again",
        hint="who did not get them",
        back=f"/jobs/{job}",
    )


@get("/actions/{action}/retrigger", Role.OPERATOR, template="confirm")
async def confirm_retrigger_action(call: Call, action: UUID) -> Confirmation:
    """What a retrigger of this action would do."""
    del call
    return Confirmation(
        title=f"Retrigger action {_end(action)}",
        text=AGAIN,
        action=f"/actions/{action}/retrigger",
        resumes=True,
        button="Retrigger 1 action",
        hint=CHANGED,
        back="/inbox",
    )


@get("/actions/{action}/dismiss", Role.OPERATOR, template="confirm")
async def confirm_dismiss(call: Call, action: UUID) -> Confirmation:
    """What a dismissal of this action means."""
    del call
    return Confirmation(
        title=f"Dismiss action {_end(action)} from the inbox",
        text="It is removed from the inbox; its status does not change. It can be retriggered later.",
        action=f"/actions/{action}/dismiss",
        button="Dismiss 1 action",
        hint="why it needs nothing more",
        back="/inbox",
    )


@get("/inbox/{entry}/dismiss", Role.OPERATOR, template="confirm")
async def confirm_dismiss_entry(call: Call, entry: int) -> Confirmation:
    """What a dismissal of this entry means."""
    del call
    return Confirmation(
        title=f"Dismiss entry {entry} from the inbox",
        text="It is removed from the inbox and stays in the journal.",
        action=f"/inbox/{entry}/dismiss",
        button="Dismiss 1 entry",
        hint="why it needs nothing more",
        back="/inbox",
    )


@get("/jobs:retrigger", Role.OPERATOR, template="confirm")
async def confirm_retrigger_many(call: Call, query: Selection) -> Confirmation:
    """How many of these actions a retrigger would concern."""
    given = query.chosen()
    count = len(await chosen(call, given, "failed_chosen"))
    return Confirmation(
        title=f"Retrigger {many(count, 'action')}",
        text=f"{AGAIN} Nothing is done if their number has changed when you confirm.",
        facts=_facts(given),
        action="/jobs:retrigger",
        hidden=_hidden(given, count),
        count=count,
        button=f"Retrigger {count:,}",
        hint=CHANGED,
        back="/inbox" if query.cause else "/jobs",
    )


@get("/jobs:cancel", Role.OPERATOR, template="confirm")
async def confirm_cancel_many(call: Call, query: Selection) -> Confirmation:
    """How many of these actions a cancellation would concern."""
    given = query.chosen()
    count = len(await chosen(call, given, "open_chosen"))
    return Confirmation(
        title=f"Cancel {many(count, 'action')}",
        text="They end as canceled. Nothing is done if their number has changed when you confirm.",
        facts=_facts(given),
        action="/jobs:cancel",
        hidden=_hidden(given, count),
        count=count,
        button=f"Cancel {count:,}",
        hint="why they must not continue",
        danger=True,
        back="/jobs",
    )


async def _open_under(call: Call, name: str) -> int:
    found = (queue for queue in (await queues(call)).queues if queue.name == name)
    return sum(queue.depth for queue in found)


def _hidden(given: dict[str, Any], count: int) -> list[tuple[str, str]]:
    """The filter and the count as fields of a form."""
    pairs = [
        (f"filter.{name}", str(each))
        for name, value in given.items()
        for each in (value if isinstance(value, list) else [value])
    ]
    return [*pairs, ("expected", str(count))]


def _facts(given: dict[str, Any]) -> dict[str, str]:
    names = {"name": "Action name", "correlation_id": "Correlation id"}
    return {names.get(name, name.capitalize()): value for name, value in given.items() if name != "jobs"}


def _end(uuid: UUID) -> str:
    return f"…{str(uuid)[-4:]}"
