"""One exchange: a request is authenticated, checked, run in a transaction, and answered."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from typing import Any
from urllib.parse import quote

from psycopg import AsyncConnection
from psycopg.errors import FeatureNotSupported
from psycopg.rows import DictRow
from pydantic import BaseModel, TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.responses import Response

from signalbox import body
from signalbox.access.authenticate import authenticate
from signalbox.access.roles import NOBODY, Caller
from signalbox.counts import counts_for
from signalbox.database import plan_changed
from signalbox.endpoint import ENDPOINTS, Call, Endpoint, Later
from signalbox.negotiate import wants_html
from signalbox.pointer import pointer
from signalbox.problem import HttpProblem
from signalbox.render import as_json, as_page
from signalbox.site import Site


async def exchange(endpoint: Endpoint, site: Site, request: Request) -> Response:
    """The answer to a request."""
    caller = NOBODY
    if endpoint.roles:
        caller = request.state.caller = await authenticate(site, request)  # error pages show the caller
    if not endpoint.open_to(caller):
        raise HttpProblem(403, f"the role {caller.role} may not do this")
    html = endpoint.template is not None and wants_html(request)
    given = {**given_in(endpoint, request), **await _body(endpoint, request)}
    try:
        call, begun, parts = await _handle(endpoint, site, request, caller, given, html)
    except FeatureNotSupported as error:
        if not plan_changed(error):
            raise
        await site.database.renew()
        call, begun, parts = await _handle(endpoint, site, request, caller, given, html)
    answer = await begun.run() if isinstance(begun, Later) else begun
    if isinstance(answer, Response):
        return answer
    if endpoint.after is not None and body.is_form(request):
        site.counts.clear()  # after a decision, the caller sees the new counts at once
        place = endpoint.after.format(answer=answer, **_quoted(given))
        return Response(status_code=303, headers={"Location": call.url(place)})
    if html and endpoint.template is not None:
        return as_page(call, endpoint.template, answer, parts, call.status)
    return as_json(answer, call.status, call.headers, request=request)


async def _handle(
    endpoint: Endpoint, site: Site, request: Request, caller: Caller, given: dict[str, Any], html: bool
) -> tuple[Call, Any, dict[str, Any]]:
    """The return value of the route, in its transaction, and the parts of its page."""
    async with _transaction(endpoint, site, caller) as connection:
        call = Call(site, request, caller, connection, endpoint.success)
        begun = await endpoint.handle(call, **given)
        if not html:
            return call, begun, {}
        if connection is not None:
            call.counts = await counts_for(call)
        return call, begun, await parts_of(endpoint, call, given)


def _quoted(given: dict[str, Any]) -> dict[str, Any]:
    """The parts of a path, quoted."""
    return {name: quote(value, safe="") if isinstance(value, str) else value for name, value in given.items()}


@asynccontextmanager
async def _transaction(
    endpoint: Endpoint, site: Site, caller: Caller
) -> AsyncIterator[AsyncConnection[DictRow] | None]:
    """The transaction of a request; public routes, such as probes, do not need the database."""
    if not endpoint.roles or endpoint.alone:
        yield None
        return
    async with site.database.transaction(caller) as connection:
        yield connection


async def parts_of(endpoint: Endpoint, call: Call, given: dict[str, Any]) -> dict[str, Any]:
    """The records of the other routes that a page shows; None for those that the caller may not read."""
    parts: dict[str, Any] = dict.fromkeys(endpoint.parts)
    for other in ENDPOINTS:
        if other.name in parts and other.open_to(call.caller):
            wanted = {name: given[name] for name in other.parameters()}
            if "query" in other.hints:
                wanted["query"] = other.hints["query"]()
            part = await other.handle(call, **wanted)
            parts[other.name] = await part.run() if isinstance(part, Later) else part
    return parts


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def given_in(endpoint: Endpoint, request: Request) -> dict[str, Any]:
    """The arguments of a route from the path and query of a request."""
    return {**_path(endpoint, request), **_query(endpoint, request)}


def _path(endpoint: Endpoint, request: Request) -> dict[str, Any]:
    found = {}
    for name, kind in endpoint.parameters().items():
        try:
            found[name] = _adapter(kind).validate_python(request.path_params[name])
        except ValidationError as error:
            raise endpoint.missing(f"{name}: {error.errors()[0]['msg']}") from None
    return found


def _query(endpoint: Endpoint, request: Request) -> dict[str, Any]:
    model = endpoint.hints.get("query")
    if model is None:
        return {}
    given = request.query_params.multi_items()
    # An HTML form also sends empty fields.
    filled = [pair for pair in given if pair[1]] if endpoint.template and wants_html(request) else given
    return {"query": validated(model, _pairs(filled), 400)}


def _pairs(items: list[tuple[str, str]]) -> dict[str, Any]:
    """Values by name, without `f`; a name that occurs twice is a list, which most models refuse."""
    found: dict[str, list[str]] = {}
    for name, value in items:
        if name != "f":
            found.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


async def _body(endpoint: Endpoint, request: Request) -> dict[str, Any]:
    model = endpoint.hints.get("body")
    return {} if model is None else {"body": validated(model, await body.read(request), 422)}


def validated(model: type[BaseModel], value: Any, status: int) -> BaseModel:
    """The value as its model; a problem with JSON pointers if it is not valid."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        found = error.errors(include_input=False, include_url=False, include_context=False)
        errors = [{"pointer": pointer(each["loc"]), "detail": each["msg"]} for each in found[:20]]
        detail = "; ".join(f"{each['pointer'] or '/'}: {each['detail']}" for each in errors[:3])
        raise HttpProblem(status, detail, errors=errors) from None
