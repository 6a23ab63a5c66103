"""The statement of each verb: a query, its parameters, and how the rows become the result."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, LiteralString, TypeVar
from uuid import UUID

from switchyard.client.records import Event, Graph, Row, Thread, uuid_of
from switchyard.errors import BadInput, NoSuchAction
from switchyard.ledger.queries import query
from switchyard.submit.submission import Request

Result = TypeVar("Result")
ActionId = UUID | str
ResumeFrom = Literal["start", "failed"]


@dataclass(frozen=True, slots=True)
class Statement(Generic[Result]):
    """One named query of switchyard/ledger/queries."""

    text: LiteralString
    parameters: dict[str, Any]
    read: Callable[[Sequence[Row]], Result]


def submit(request: Request) -> Statement[UUID]:
    """Submit one action."""
    return Statement(query("submit", "one"), request.arguments(), lambda rows: _uuids(rows)[0])


def submit_many(requests: Iterable[Request]) -> Statement[list[UUID]]:
    """Submit many actions."""
    asked = json.dumps([request.document() for request in requests])
    return Statement(query("submit", "many"), {"requests": asked}, _uuids)


def submit_graph(graph: Mapping[str, Any]) -> Statement[Graph]:
    """Submit a whole graph."""

    def read(rows: Sequence[Row]) -> Graph:
        whole, *nodes = rows
        ids = {str(row["name"]): uuid_of(row["action_uuid"]) for row in nodes}
        return Graph(uuid_of(whole["action_uuid"]), ids)

    return Statement(query("submit", "graph"), {"graph": json.dumps(graph, default=str)}, read)


def status(action: ActionId) -> Statement[Thread]:
    """The state of one action."""
    uuid = checked(action)

    def read(rows: Sequence[Row]) -> Thread:
        if not rows:
            raise NoSuchAction(uuid)
        return Thread.of(rows[0])

    return Statement(query("client", "status"), {"uuid": uuid}, read)


def events(action: ActionId) -> Statement[list[Event]]:
    """The events of one action."""
    parameters = {"uuid": checked(action)}
    return Statement(query("client", "events"), parameters, lambda rows: [*map(Event.of, rows)])


def why(action: ActionId) -> Statement[str]:
    """Why one action has not ended, or how it ended."""
    uuid = checked(action)

    def read(rows: Sequence[Row]) -> str:
        if not rows or rows[0]["why"] is None:
            raise NoSuchAction(uuid)
        return str(rows[0]["why"])

    return Statement(query("client", "why"), {"uuid": uuid}, read)


def cancel(action: ActionId, actor: str, reason: str) -> Statement[bool]:
    """Cancel one action."""
    parameters = {"uuid": checked(action), "actor": actor, "reason": reason}
    return Statement(query("client", "cancel"), parameters, lambda rows: bool(rows[0]["canceled"]))


def retrigger(action: ActionId, actor: str, reason: str, resume_from: ResumeFrom) -> Statement[int]:
    """Open the next run of one action."""
    parameters = {"uuid": checked(action), "actor": actor, "reason": reason, "resume_from": resume_from}
    return Statement(query("client", "retrigger"), parameters, lambda rows: int(rows[0]["run"]))


def checked(action: ActionId) -> UUID:
    """The id as a UUID; raises BadInput if it is not valid."""
    if isinstance(action, UUID):
        return action
    try:
        return UUID(action)
    except (ValueError, TypeError, AttributeError):
        raise BadInput(f"{str(action)[:100]!r} is not a valid UUID") from None


def _uuids(rows: Sequence[Row]) -> list[UUID]:
    return [uuid_of(row["action_uuid"]) for row in rows]
