"""Actions of any kind: jobs and callbacks."""

from typing import Annotated
from urllib.parse import urlencode
from uuid import UUID

from pydantic import Field, StringConstraints

from signalbox.access.roles import Role
from signalbox.endpoint import Call, get
from signalbox.records.actions import Action, ActionList
from signalbox.records.base import Record
from signalbox.routes.jobs import LAST
from switchyard.ledger.queries import query as named


class ActionQuery(Record):
    """A filter of actions."""

    limit: Annotated[int, Field(ge=1, le=1000)] = 50
    """How many at most."""
    before: UUID = LAST
    """Only actions older than this one; links to the next page have it."""
    name: Annotated[str, StringConstraints(min_length=1, max_length=200)] | None = None
    """Only this action name."""


@get("/actions", Role.READER)
async def actions(call: Call, query: ActionQuery) -> ActionList:
    """Actions of any kind, the newest first."""
    values = {"before": query.before, "name": query.name, "limit": query.limit + 1}
    rows = await call.rows(named("signalbox", "actions"), values)
    found = [Action(**row) for row in rows[: query.limit]]
    links = [call.link("/actions", "self")]
    if len(rows) > query.limit:
        given = {
            "limit": query.limit,
            "before": found[-1].action_uuid,
            **({"name": query.name} if query.name else {}),
        }
        links.append(call.link(f"/actions?{urlencode(given)}", "next"))
    return ActionList(actions=found, links=links)
