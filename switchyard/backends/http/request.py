"""Builds the request of an action: rendered, checked, signed, with a second form for display.

Values made from secrets are not shown (headers), shown with masks in place of the secrets (the URL and the
body), or masked where they come back (an answer that repeats them).
"""

import base64
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from yarl import URL

from switchyard.backends.http.sign import Signer
from switchyard.backends.http.template import FAULTS, Names, Naming, Template, TemplateFaultError, reason
from switchyard.backends.http.url import UrlError, parse_url, shown
from switchyard.config.sandbox import as_json
from switchyard.errors import ConfigError
from switchyard.handlers import Work
from switchyard.process import tracing
from switchyard.process.redact import MASK


@dataclass(slots=True)
class OutgoingRequest:
    """A request to send. `derived`: texts in it made from secrets; `private`: headers that contain such."""

    uuid: str
    method: str
    url: URL
    headers: dict[str, str]
    private: frozenset[str] = frozenset()
    body: bytes = b""
    secret_body: bool = False  # made from a secret: only for the first host
    shown_url: str = ""
    shown_body: bytes = b""
    derived: list[str] = field(default_factory=list)


_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_UNFIT = re.compile(r"[^\t\x20-\x7e]")
# Framing and routing are up to the client: such headers could make a request ambiguous.
_RESERVED = re.compile(
    r"host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|proxy-.*",
    re.IGNORECASE,
)


_ALWAYS = {"Accept": "*/*", "Accept-Encoding": "identity", "User-Agent": "switchyard"}


class HeaderError(ValueError):
    """A value that is not possible in a header; the message does not contain it."""


class HeaderTemplates:
    """Header templates and the headers that are always sent. Those of secrets alone are rendered once."""

    def __init__(
        self,
        written: Mapping[str, str],
        secrets: Mapping[str, str],
        *,
        authorization: str | None = None,
        signed: bool = False,
    ) -> None:
        for name in written:
            _vet_name(name, signed=signed)
        given = [*written, "Authorization"] if authorization is not None else [*written]
        self.names = frozenset(name.lower() for name in given)
        if len(self.names) < len(given):
            raise ConfigError("request.headers: a header is given twice (Authorization also by `auth`)")
        templates = {name: Template(text, f"request.headers.{name}") for name, text in written.items()}
        self.from_secrets = [name for name, template in templates.items() if template.secret]
        self.private = frozenset([*self.from_secrets, "Authorization"])
        self._varying = {name: template for name, template in templates.items() if template.varies}
        self._fixed = {name: value for name, value in _ALWAYS.items() if name.lower() not in self.names}
        if authorization is not None:
            self._fixed["Authorization"] = authorization
        self._fixed |= _rendered_once(templates, secrets)

    @property
    def varying(self) -> Iterable[Template]:
        """The templates that use the action."""
        return self._varying.values()

    def render(self, names: Names) -> dict[str, str]:
        """The headers of one request."""
        headers = self._fixed.copy()
        for name, template in self._varying.items():
            headers[name] = _value(template, names)
        return headers


def _rendered_once(templates: Mapping[str, Template], secrets: Mapping[str, str]) -> dict[str, str]:
    fixed = {name: template for name, template in templates.items() if not template.varies}
    try:
        return {name: _value(template, {"secrets": secrets}) for name, template in fixed.items()}
    except ValueError as error:
        raise ConfigError(str(error)) from None


def _vet_name(name: str, *, signed: bool) -> None:
    if not _TOKEN.fullmatch(name):
        raise ConfigError(f"request.headers: {name[:100]!r} is not a header name")
    if _RESERVED.fullmatch(name) or (signed and name.lower().startswith("webhook-")):
        raise ConfigError(f"request.headers: {name} is set by the client itself")


def _value(template: Template, names: Names) -> str:
    value = template.render(names)
    try:
        text = (value if isinstance(value, str) else as_json(value)).strip(" \t")
    except FAULTS as fault:
        raise TemplateFaultError(f"{template.where}: {reason(fault)}") from None
    if _UNFIT.search(text):
        raise HeaderError(f"{template.where}: it holds a character that no header can carry")
    return text


_TEXT, _JSON = "text/plain; charset=utf-8", "application/json"
_PLAIN = re.compile(r"[\x21-\x24\x26-\x7e]+")
_URL_SAFE = "!#$&'()*+,/:;=?@%~"


class RequestError(ValueError):
    """No request can be built from these parameters; the message gives the reason, without values."""


class RequestTemplate:
    """An action's configured request, compiled once."""

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
        signed = signer is not None
        self._headers = HeaderTemplates(headers, secrets, authorization=authorization, signed=signed)
        self._naming = Naming([self._url, *self._headers.varying, *([self._body] if self._body else [])])
        self._secrets, self._masked = dict(secrets), dict.fromkeys(secrets, MASK)
        self._signer, self._correlation_header = signer, correlation_header
        self._largest_body, self._largest_headers = largest_body, largest_headers

    def prepare(self, work: Work, now: float) -> OutgoingRequest:
        """Build the request of one attempt; ValueError if these parameters make that impossible."""
        names = self._naming(work, self._secrets)
        text = self._url.render(names)
        if not isinstance(text, str):
            raise UrlError("request.url: the URL must be a string")
        headers = self._headers.render(names)
        request = OutgoingRequest(
            str(work.uuid), self._method, parse_url(text), headers, self._headers.private
        )
        request.derived = [headers[name] for name in self._headers.from_secrets]
        if request.url.raw_user is not None:
            self._add_userinfo(request)
        if self._body is not None:
            self._add_body(request, self._body, names)
        self._add_identity(request, work, now)
        self._add_shown(request, work)
        size = sum(map(len, headers.values())) + 40 * len(headers)
        if size > self._largest_headers:
            raise RequestError(f"the headers have about {size} bytes, at most {self._largest_headers} go out")
        return request

    def _add_userinfo(self, request: OutgoingRequest) -> None:
        """Send credentials of the URL as Basic authorization, and nowhere else."""
        if "authorization" in self._headers.names:
            raise UrlError("the URL holds credentials, and there is an Authorization header too")
        user, password = request.url.user or "", request.url.password or ""
        encoded = base64.b64encode(f"{user}:{password}".encode()).decode()
        request.derived += [encoded, password or user]
        request.headers["Authorization"] = f"Basic {encoded}"
        request.url = request.url.with_user(None)

    def _add_body(self, request: OutgoingRequest, template: Template, names: Names) -> None:
        value, request.body = _encoded(template, names)
        size = len(request.body)
        if size > self._largest_body:
            raise RequestError(f"request.body: it has {size} bytes, at most {self._largest_body} go out")
        request.secret_body = template.secret
        if template.secret and isinstance(value, str):
            request.derived.append(value)
        if "content-type" not in self._headers.names:
            request.headers["Content-Type"] = _TEXT if isinstance(value, str) else _JSON

    def _add_identity(self, request: OutgoingRequest, work: Work, now: float) -> None:
        if self._correlation_header and work.correlation_id:
            text = work.correlation_id[:256]
            plain = _PLAIN.fullmatch(text)
            request.headers[self._correlation_header] = text if plain else quote(text, "", errors="replace")
        if tracing.enabled():
            written = self._headers.names
            request.headers |= {k: v for k, v in tracing.headers().items() if k.lower() not in written}
        if self._signer is not None:
            request.headers |= self._signer.headers(request.uuid, int(now), request.body)

    def _add_shown(self, request: OutgoingRequest, work: Work) -> None:
        request.shown_url, request.shown_body = shown(request.url), request.body
        if not self._shows_secrets:
            return
        names = self._naming(work, self._masked)
        if self._url.secret:
            request.shown_url = _shown_url(self._url, names, request)
        if self._body is not None and self._body.secret:
            request.shown_body = _encoded(self._body, names)[1]

    @property
    def _shows_secrets(self) -> bool:
        return self._url.secret or (self._body is not None and self._body.secret)


def _shown_url(template: Template, names: Names, request: OutgoingRequest) -> str:
    """The URL with masks for secrets, or only its scheme if the masks make it invalid."""
    try:
        return shown(parse_url(quote(str(template.render(names)), safe=_URL_SAFE)))
    except ValueError:
        return f"{request.url.scheme}://…"


def _encoded(template: Template, names: Names) -> tuple[Any, bytes]:
    value = template.render(names)
    try:
        return value, (value if isinstance(value, str) else as_json(value)).encode()
    except FAULTS as fault:
        raise TemplateFaultError(f"{template.where}: {reason(fault)}") from None
