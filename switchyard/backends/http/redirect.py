"""Redirects, where an action allows them: each hop is a new request that is vetted like the first."""

from dataclasses import replace

from yarl import URL

from switchyard.backends.http.outgoing import Outgoing
from switchyard.backends.http.redact import sensitive
from switchyard.backends.http.url import UrlError, parse_url, shown

_KEEPS_METHOD = frozenset({307, 308})
_MAY_BECOME_GET = frozenset({301, 302, 303})


def next_hop(request: Outgoing, status: int, location: str | None) -> Outgoing | None:
    """The request to follow with; None where the answer itself is the end. A hop we would not call raises."""
    if location is None or not (
        status in _KEEPS_METHOD or (status in _MAY_BECOME_GET and request.method in ("GET", "HEAD"))
    ):
        return None  # a POST that turned into a GET would look delivered and was not
    url = _target(request.url, location)
    if request.url.scheme == "https" and url.scheme != "https":
        raise UrlError("the redirect leaves TLS")
    elsewhere = url.origin() != request.url.origin()
    if elsewhere and request.secret_body:
        raise UrlError("the redirect leads to another host, and the body holds a secret")
    headers = _public(request) if elsewhere else request.headers
    return replace(request, url=url, headers=headers, shown_url=shown(url))


def _target(base: URL, location: str) -> URL:
    try:
        target = base.join(URL(location))
    except ValueError:
        raise UrlError("the redirect leads to no URL") from None
    if target.raw_user is not None:
        raise UrlError("the redirect brings credentials of its own")
    return parse_url(str(target))


def _public(request: Outgoing) -> dict[str, str]:
    """Without what was meant for the first host only; a signature is for its body and may go along."""
    return {
        name: value
        for name, value in request.headers.items()
        if name.lower().startswith("webhook-") or not (name in request.private or sensitive(name))
    }
