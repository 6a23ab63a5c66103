"""From a request to its caller: a bearer token or JWT, a login's cookie, a trusted proxy, or loopback."""

import psycopg
from starlette.requests import Request

from signalbox.access.csrf import refuse_other_sites
from signalbox.access.jwt import Unacceptable
from signalbox.access.proxy import address, from_proxy
from signalbox.access.roles import NOBODY, Caller, Role
from signalbox.access.tokens import from_token
from signalbox.problem import HttpProblem
from signalbox.site import Site
from switchyard.errors import SwitchyardError
from switchyard.tokens import PREFIX

COOKIE = "signalbox"
LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})


async def authenticate(site: Site, request: Request) -> Caller:
    """The caller of a request; 401 if it cannot be identified."""
    access = site.config.signalbox.access
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return await checked(site, request, given.strip())
    refuse_other_sites(request)
    if access.anonymous is not None:
        _refuse_other_names(request)
        return Caller("anonymous", Role(access.anonymous))
    if access.proxy is not None and (caller := from_proxy(access.proxy, request)) is not None:
        return caller
    if COOKIE in request.cookies:
        return await checked(site, request, request.cookies[COOKIE])
    raise refused()


async def recognised(site: Site, request: Request) -> Caller:
    """The caller, for the navigation of public pages; `NOBODY` if it is unknown."""
    try:
        return await authenticate(site, request)
    except (HttpProblem, SwitchyardError, psycopg.Error):
        return NOBODY


async def checked(site: Site, request: Request, token: str) -> Caller:
    """The caller of a token or JWT; 401 if it is not valid, 429 after too many invalid ones."""
    where = address(site.config.signalbox.access.proxy, request)
    if wait := site.failures.blocked(where):
        raise HttpProblem(429, "too many failed logins", headers={"Retry-After": str(round(wait) + 1)})
    caller = await _caller(site, token)
    if caller is None:
        site.failures.failed(where)
        raise refused()
    return caller


async def _caller(site: Site, token: str) -> Caller | None:
    if token.startswith(PREFIX):
        return await from_token(site.database, token) if site.config.signalbox.access.tokens else None
    if site.keys is None:
        return None
    try:
        return await site.keys.caller(token)
    except Unacceptable:
        return None


def refused() -> HttpProblem:
    """401."""
    return HttpProblem(
        401,
        "this request has no valid credentials",
        headers={"WWW-Authenticate": 'Bearer realm="switchyard"'},
    )


def _refuse_other_names(request: Request) -> None:
    """Against DNS rebinding: another site's host name could resolve to 127.0.0.1 and so reach this server."""
    host = request.headers.get("host", "")
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
    if name not in LOOPBACK:
        raise HttpProblem(403, "without credentials this server answers on loopback names only")
