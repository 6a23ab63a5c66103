"""From an action to its request: rendered, checked, signed, and a second form for people.

Whatever was made from a secret is either not shown (a header), shown as rendered with masks in the place of
the secrets (the URL and the body), or masked wherever it comes back (an answer that repeats it).
"""

import base64
import re
from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import quote

from yarl import URL

from conductor.handler import Work
from conductor.handlers.http.outgoing import Outgoing
from conductor.handlers.http.sign import Signer
from conductor.handlers.http.template import FAULTS, Names, Template, TemplateFaultError, reason
from conductor.handlers.http.url import UrlError, parse_url, shown
from switchyard.config.sandbox import as_json
from switchyard.errors import ConfigError
from switchyard.runtime.redact import MASK

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_UNFIT = re.compile(r"[^\t\x20-\x7e]")
# Framing and routing are the client's: a header of these would make two readings of one request.
_RESERVED = re.compile(
    r"host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|proxy-.*",
    re.IGNORECASE,
)


class RequestError(ValueError):
    """These parameters make no request; the text says why, without values."""


class RequestTemplate:
    """What an action's configuration says of its requests, compiled once."""

    def __init__(
        self,
        *,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: Any,
        secrets: Mapping[str, str],
        authorization: str | None = None,
        signer: Signer | None = None,
        correlation_header: str | None = None,
        largest_body: int = 2**20,
        largest_headers: int = 16 * 2**10,
    ) -> None:
        self._method = method.upper()
        self._url = Template(url, "request.url")
        self._body = None if body is None else Template(body, "request.body")
        self._headers = _templates(headers, signer)
        given = {name.lower() for name in headers}
        if authorization is not None and "authorization" in given:
            raise ConfigError("request.headers: Authorization is given by `auth` already")
        self._typed = "content-type" in given
        self._authorization, self._authorized = authorization, bool(authorization) or "authorization" in given
        secret = {name for name, template in self._headers.items() if template.secret}
        self._private = frozenset(secret | {"Authorization"})
        self._secrets, self._masked = dict(secrets), dict.fromkeys(secrets, MASK)
        self._signer, self._correlation_header = signer, correlation_header
        self._largest_body, self._largest_headers = largest_body, largest_headers

    def prepare(self, work: Work, now: float) -> Outgoing:
        """The request of one attempt. Raises UrlError, TemplateFaultError or RequestError."""
        names = _names(work, self._secrets)
        url = self._rendered_url(names)
        request = Outgoing(self._method, url, {"Accept-Encoding": "identity", "User-Agent": "switchyard"})
        request.private = self._private
        self._add_headers(request, names)
        self._add_body(request, names)
        self._add_identity(request, work, now)
        self._add_shown(request, work)
        size = sum(len(name) + len(value) + 4 for name, value in request.headers.items())
        if size > self._largest_headers:
            raise RequestError(f"the headers have {size} bytes, at most {self._largest_headers} go out")
        return request

    def _rendered_url(self, names: Names) -> URL:
        text = self._url.render(names)
        if not isinstance(text, str):
            raise UrlError("request.url: the URL is no text")
        return parse_url(text)

    def _add_headers(self, request: Outgoing, names: Names) -> None:
        for name, template in self._headers.items():
            value = template.render(names)
            text = value if isinstance(value, str) else as_json(value)
            if _UNFIT.search(text):
                raise RequestError(f"{template.where}: it holds a character that no header can carry")
            request.headers[name] = text.strip()
            if template.secret:
                request.derived.append(text.strip())
        if self._authorization is not None:
            request.headers["Authorization"] = self._authorization
        if request.url.raw_user is not None:
            self._add_userinfo(request)

    def _add_userinfo(self, request: Outgoing) -> None:
        if self._authorized:
            raise UrlError("the URL holds credentials, and there is an Authorization header too")
        pair = f"{request.url.user}:{request.url.password or ''}"
        encoded = base64.b64encode(pair.encode()).decode()
        request.derived += [encoded, request.url.password or request.url.user or ""]
        request.headers["Authorization"] = f"Basic {encoded}"
        request.url = request.url.with_user(None)

    def _add_body(self, request: Outgoing, names: Names) -> None:
        if self._body is None:
            return
        value, request.body = _encoded(self._body, names)
        size = len(request.body)
        if size > self._largest_body:
            raise RequestError(f"request.body: it has {size} bytes, at most {self._largest_body} go out")
        if self._body.secret and isinstance(value, str):
            request.derived.append(value)
        if not self._typed:
            kind = "text/plain; charset=utf-8" if isinstance(value, str) else "application/json"
            request.headers["Content-Type"] = kind

    def _add_identity(self, request: Outgoing, work: Work, now: float) -> None:
        if self._correlation_header and work.correlation_id:
            request.headers[self._correlation_header] = quote(
                work.correlation_id[:256], safe="!#$&'()*+,/:;=?@[]~ "
            )
        if self._signer is not None:
            request.headers |= self._signer.headers(str(work.uuid), int(now), request.body)

    def _add_shown(self, request: Outgoing, work: Work) -> None:
        request.shown_url, request.shown_body = shown(request.url), request.body
        if self._url.secret or (self._body is not None and self._body.secret):
            names = _names(work, self._masked)
            try:
                request.shown_url = shown(
                    parse_url(quote(str(self._url.render(names)), safe="!#$&'()*+,/:;=?@%~"))
                )
            except ValueError:
                request.shown_url = f"{request.url.origin()}/…"
            if self._body is not None and self._body.secret:
                request.shown_body = _encoded(self._body, names)[1]


def _templates(headers: Mapping[str, str], signer: Signer | None) -> dict[str, Template]:
    named = {_header_name(name, signer): text for name, text in headers.items()}
    return {name: Template(text, f"request.headers.{name}") for name, text in named.items()}


def _header_name(name: str, signer: Signer | None) -> str:
    if not _TOKEN.fullmatch(name):
        raise ConfigError(f"request.headers: {name[:100]!r} is no header name")
    if _RESERVED.fullmatch(name) or (signer is not None and name.lower().startswith("webhook-")):
        raise ConfigError(f"request.headers: {name} is set by the client itself")
    return name


def _encoded(template: Template, names: Names) -> tuple[Any, bytes]:
    value = template.render(names)
    try:
        return value, (value if isinstance(value, str) else as_json(value)).encode()
    except FAULTS as fault:
        raise TemplateFaultError(f"{template.where}: {reason(fault)}") from None


def _names(work: Work, secrets: Mapping[str, str]) -> Names:
    action = {
        "uuid": str(work.uuid),
        "run": work.run,
        "attempt": work.attempt,
        "name": work.action_name,
        "workflow": work.workflow,
        "callback": work.callback,
        "parent_uuid": None if work.parent_uuid is None else str(work.parent_uuid),
        "correlation_id": work.correlation_id,
        "created_at": work.created_at.isoformat(),
    }
    return cast(Names, {"parameters": work.parameters, "action": action, "secrets": secrets})
