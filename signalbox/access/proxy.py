"""Callers that a trusted proxy has authenticated: its headers are accepted from its networks only."""

import ipaddress

from starlette.requests import Request

from signalbox.access.roles import Caller, Role
from switchyard.config.signalbox import Proxy


def from_proxy(settings: Proxy, request: Request) -> Caller | None:
    """The caller that the proxy reports; None if the request does not come from it or has no user."""
    name = request.headers.get(settings.user_header, "").strip()
    if not is_trusted(settings, request) or not 0 < len(name) <= 200 or not name.isprintable():
        return None
    groups = {group.strip() for group in request.headers.get(settings.groups_header, "").split(",")}
    given = {Role(role) for group, role in settings.roles.items() if group in groups}
    for role in (Role.ADMIN, Role.OPERATOR, Role.READER, Role.SUBMITTER):
        if role in given:
            return Caller(f"proxy:{name}", role)
    return None if settings.role is None else Caller(f"proxy:{name}", Role(settings.role))


def is_trusted(settings: Proxy | None, request: Request) -> bool:
    """Whether the request was sent by the trusted proxy."""
    if settings is None or request.client is None:
        return False
    try:
        peer = ipaddress.ip_address(request.client.host)
    except ValueError:
        return False
    return any(peer in ipaddress.ip_network(network) for network in settings.networks)


def address(settings: Proxy | None, request: Request) -> str:
    """The client's address: behind the trusted proxy, the last one that the proxy reports."""
    if is_trusted(settings, request):
        forwarded = request.headers.get("x-forwarded-for", "").rpartition(",")[2].strip()
        if forwarded:
            return forwarded[:64]
    return request.client.host if request.client else "?"
