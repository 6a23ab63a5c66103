"""Declarations of routes, and the arguments that they are called with.

    @get("/jobs/{job}/events", Role.READER, Role.SUBMITTER, template="events")
    async def events(call: Call, job: UUID, query: EventQuery) -> EventList:
        '''The events of a job, oldest first.'''

Parameters: `call` is the request; `query` and `body` are models that validate the query string and the
body; every other parameter is part of the path. The OpenAPI document is generated from the docstring, the
models and the return type. An endpoint without roles is open to everyone.
"""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import Any, TypeVar, get_args, get_type_hints
from uuid import UUID

from psycopg import AsyncConnection
from psycopg.rows import DictRow
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from signalbox.access.roles import Caller, Role
from signalbox.problem import OGC, HttpProblem, not_found
from signalbox.records.base import Link
from signalbox.records.changes import Changed
from signalbox.site import Site

Answer = BaseModel | Response


@dataclass(frozen=True, slots=True)
class Later:
    """The rest of an answer that does not need the database: the connection is returned before it runs."""

    run: Callable[[], Awaitable[Answer]]


Handler = Callable[..., Awaitable[Answer | Later]]
Declared = TypeVar("Declared", bound=Handler)


@dataclass(slots=True)
class Call:
    """One request, as a route sees it."""

    site: Site
    request: Request
    caller: Caller
    session: AsyncConnection[DictRow] | None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    jobs: dict[UUID, DictRow] = field(default_factory=dict)
    counts: dict[str, str] = field(default_factory=dict)

    @property
    def connection(self) -> AsyncConnection[DictRow]:
        """The transaction of this request; routes that are open to everyone, or `alone`, have none."""
        assert self.session is not None, "this route has no transaction"
        return self.session

    def url(self, path: str) -> str:
        """The path, prefixed with the base path."""
        return f"{self.site.base_path}{path}"

    def href(self, path: str) -> str:
        """The path as an absolute URL."""
        return f"{self.site.origin(self.request)}{self.url(path)}"

    def link(self, path: str, rel: str, kind: str = "application/json", title: str | None = None) -> Link:
        """A link within this API."""
        return Link(href=self.href(path), rel=rel, type=kind, title=title)

    async def rows(self, query: Any, values: Mapping[str, Any] | None = None) -> list[DictRow]:
        """All rows of a query."""
        return await (await self.connection.execute(query, values)).fetchall()

    async def row(self, query: Any, values: Mapping[str, Any] | None = None) -> DictRow | None:
        """The first row of a query."""
        return await (await self.connection.execute(query, values)).fetchone()

    async def change(self, query: Any, values: Mapping[str, Any]) -> Changed:
        """Runs a query that changes something on behalf of the caller, and returns whether it did."""
        row = await self.row(query, {**values, "actor": self.caller.name})
        assert row is not None
        return Changed(changed=bool(row["changed"]))


@cache
def hints_of(handle: Handler) -> dict[str, Any]:
    """The types of a route's parameters and of its answer: looking them up takes as long as a query."""
    return get_type_hints(handle)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A route: its path, the roles that may call it, its parameters and its answer."""

    method: str
    path: str
    roles: tuple[Role, ...]
    handle: Handler
    template: str | None = None
    parts: tuple[str, ...] = ()
    after: str | None = None
    success: int = 200
    media: str | None = None
    alone: bool = False

    @property
    def name(self) -> str:
        """Unique; also the operation's id in the OpenAPI document."""
        return self.handle.__name__.rstrip("_")

    @property
    def about(self) -> str:
        """The first line of the docstring."""
        return (inspect.getdoc(self.handle) or "").partition("\n")[0]

    @property
    def hints(self) -> dict[str, Any]:
        """The types of the parameters and of the answer, by name."""
        return hints_of(self.handle)

    @property
    def record(self) -> Any:
        """The type of the answer."""
        answer = self.hints["return"]
        return get_args(answer)[0] if get_args(answer) else answer

    def parameters(self) -> dict[str, Any]:
        """The types of the parts of the path, by name."""
        return {
            name: hint for name, hint in self.hints.items() if name not in ("call", "query", "body", "return")
        }

    def missing(self, detail: str) -> HttpProblem:
        """404 for something that the path refers to."""
        job = self.path.startswith("/jobs/")
        return not_found(detail, OGC + ("no-such-job" if job else "no-such-process"))

    def open_to(self, caller: Caller) -> bool:
        """Whether the caller has one of the roles."""
        return not self.roles or any(caller.may(role) for role in self.roles)


ENDPOINTS: list[Endpoint] = []


def _route(method: str, path: str, *roles: Role, **options: Any) -> Callable[[Declared], Declared]:
    def declare(handle: Declared) -> Declared:
        ENDPOINTS.append(Endpoint(method, path, roles, handle, **options))
        return handle

    return declare


def get(
    path: str,
    *roles: Role,
    template: str | None = None,
    parts: tuple[str, ...] = (),
    media: str | None = None,
) -> Callable[[Declared], Declared]:
    """Declares a route that reads; `template` is its page, `parts` other routes that the page shows.

    `media` is the media type of a route whose answer is not a record.
    """
    return _route("GET", path, *roles, template=template, parts=parts, media=media)


def post(
    path: str, *roles: Role, after: str | None = None, success: int = 200, alone: bool = False
) -> Callable[[Declared], Declared]:
    """Declares a route that changes something; after a form, the browser is redirected to `after`.

    `alone`: its statements set the caller's role themselves; there is no transaction around the route.
    """
    return _route("POST", path, *roles, after=after, success=success, alone=alone)


def delete(path: str, *roles: Role) -> Callable[[Declared], Declared]:
    """Declares a DELETE route."""
    return _route("DELETE", path, *roles)
