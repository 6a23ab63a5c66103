"""The ASGI application."""

from collections.abc import Awaitable, Callable
from functools import partial

import psycopg
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

import signalbox.routes  # noqa: F401 - declares the endpoints
from signalbox.access.authenticate import recognised
from signalbox.access.roles import NOBODY, Caller
from signalbox.endpoint import ENDPOINTS, Call, Endpoint
from signalbox.errors import problem_of
from signalbox.exchange import exchange
from signalbox.headers import SecurityHeaders
from signalbox.live.regions import read_regions
from signalbox.negotiate import wants_html
from signalbox.pages.assets import FOLDERS
from signalbox.problem import HttpProblem
from signalbox.render import PROBLEM, as_json, as_page
from signalbox.segments import by_segment
from signalbox.site import Site
from switchyard.errors import SwitchyardError
from switchyard.process.log import get_logger

log = get_logger(__name__)


def build(site: Site) -> SecurityHeaders:
    """The application of a site; other applications may mount it."""
    site.live.read = partial(read_regions, site)
    routes = by_segment(Route(each.path, _handler(each, site), methods=[each.method]) for each in ENDPOINTS)
    routes += [Mount(path, StaticFiles(directory=folder)) for path, folder in FOLDERS.items()]
    base = site.base_path
    app = Starlette(
        routes=[Mount(base, routes=routes)] if base else routes,
        exception_handlers={
            HTTPException: _handled(site),
            HttpProblem: _handled(site),
            Exception: _handled(site),
        },
    )
    for kind in (SwitchyardError, psycopg.Error):
        app.add_exception_handler(kind, _handled(site))
    return SecurityHeaders(app)


def _handler(endpoint: Endpoint, site: Site) -> Callable[[Request], Awaitable[Response]]:
    async def handle(request: Request) -> Response:
        return await exchange(endpoint, site, request)

    return handle


def _handled(site: Site) -> Callable[[Request, Exception], Awaitable[Response]]:
    async def handle(request: Request, error: Exception) -> Response:
        return await _failed(site, request, problem_of(error))

    return handle


async def _failed(site: Site, request: Request, failure: HttpProblem) -> Response:
    problem = failure.problem
    if not _page_wanted(request):
        kinds = request.headers.get("accept", "")
        kind = "application/json" if "application/json" in kinds and PROBLEM not in kinds else PROBLEM
        return as_json(problem, problem.status, failure.headers, kind)
    call = Call(site, request, await _caller_of(site, request, problem.status), None, headers=failure.headers)
    return as_page(call, "error", problem, {}, problem.status)


async def _caller_of(site: Site, request: Request, status: int) -> Caller:
    """The sender of the request; `NOBODY` if authentication failed."""
    if hasattr(request.state, "caller"):
        caller: Caller = request.state.caller
        return caller
    # If no route has this address or method, none has authenticated the request.
    return await recognised(site, request) if status in (404, 405) else NOBODY


def _page_wanted(request: Request) -> bool:
    try:
        return wants_html(request)
    except HttpProblem:
        return False
