"""`http`: one request to a webhook or an API; its answer is the outcome."""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from switchyard.backends.http.outbound import OutboundAction
from switchyard.config.codes import StatusCodes, parse_codes
from switchyard.config.expressions import JsonPath, Regex
from switchyard.config.model import Model
from switchyard.config.names import HeaderName
from switchyard.config.problems import Path, Problem
from switchyard.config.secrets import Secret
from switchyard.config.templates import SecretTemplate, TemplatedJson, texts_of

SENSITIVE = frozenset(
    {"authorization", "proxy-authorization", "cookie", "x-api-key", "x-auth-token", "api-key"}
)
_EXPRESSION = re.compile(r"(\{\{.*?\}\}|\{%.*?%\})", re.DOTALL)
_END_OF_AUTHORITY = re.compile(r"[/?#\\]")
_PORT = re.compile(r":[0-9]*$")
_USERINFO = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]*://[^/?#{]*@")


def check_url(text: str) -> str:
    """Check a URL template: no literal password, and no value can extend its host."""
    if _USERINFO.match(text):
        raise ValueError("an address must hold no user or password: use auth, with secrets by reference")
    literal, computed = _authority(text)
    if computed and _PORT.sub("", literal):
        raise ValueError(
            f"the host {literal!r} is followed or preceded by an expression, whose value could lead "
            'elsewhere: end the host with a slash, like "https://host/{{ parameters.path }}"'
        )
    return text


def _authority(text: str) -> tuple[str, bool]:
    """The literal part of host and port, and whether an expression over anything but secrets adds to it."""
    scheme, separator, rest = text.partition("://")
    if not separator or "{" in scheme:
        return "", False
    literal, computed = "", False
    for piece in _EXPRESSION.split(rest):
        if _EXPRESSION.fullmatch(piece):
            computed = computed or "parameters" in piece or "action" in piece
            continue
        end = _END_OF_AUTHORITY.search(piece)
        literal += piece if end is None else piece[: end.start()]
        if end is not None:
            break
    return literal, computed


class Sign(Model):
    """Signing by Standard Webhooks: id, timestamp, one signature for each secret."""

    secrets: Annotated[tuple[Secret, ...], Field(min_length=1, max_length=10)]
    """The keys, the newest first; several at once while they are rotated."""


class Request(Model):
    """The request. Every text is a Jinja2 template over parameters, action and secrets."""

    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] = "POST"
    """The HTTP method."""
    url: Annotated[SecretTemplate, AfterValidator(check_url)]
    """The address."""
    headers: Mapping[HeaderName, SecretTemplate] = {}
    """Headers in addition to those that are always sent."""
    body: TemplatedJson = None
    """The JSON body; a text that is one template keeps the JSON type of its value."""
    sign: Sign | None = None
    """Sign the request by Standard Webhooks."""

    @model_validator(mode="after")
    def _no_literal_credentials(self) -> Self:
        for name, value in self.headers.items():
            if name.lower() in SENSITIVE and "secrets" not in value and "parameters" not in value:
                raise ValueError(f'the header {name} holds a secret: write it like "{{{{ secrets.name }}}}"')
        return self


class ResponseRule(Model):
    """One rule for responses; all given conditions must match. The first rule that matches decides."""

    status: StatusCodes | None = None
    """Status codes, like 200-299 or [408, 429, 500-599]; without it, any status."""
    path: JsonPath | None = None
    """A JSONPath into the response body; it matches if it finds something."""
    matches: Regex | None = None
    """A regular expression to search for in what `path` finds, or in the whole body."""
    outcome: Literal["success", "retry", "failed"]
    """The outcome of a response that matches."""

    @property
    def catches_all(self) -> bool:
        """Whether the rule matches every response."""
        return self.status is None and self.path is None and self.matches is None


DEFAULT_RESPONSES = (
    ResponseRule(status=parse_codes(["200-299"]), outcome="success"),
    ResponseRule(status=parse_codes([408, 425, 429, "500-599"]), outcome="retry"),
    ResponseRule(outcome="failed"),
)


class HttpAction(OutboundAction):
    """A request to a webhook or an API."""

    answers_itself: ClassVar[bool] = True

    type: Literal["http"] = "http"
    request: Request
    """The request to send."""
    responses: Annotated[tuple[ResponseRule, ...], Field(min_length=1)] = DEFAULT_RESPONSES
    """How responses are classified. Default: 200-299 success; 408, 425, 429, 500-599 retry; others failed."""

    def templates(self) -> Iterator[tuple[Path, str]]:
        """The locations and the texts of its templates."""
        yield ("request", "url"), self.request.url
        for name, text in self.request.headers.items():
            yield ("request", "headers", name), text
        for text in texts_of(self.request.body):
            yield ("request", "body"), text

    def problems(self) -> Iterator[Problem]:
        """A warning for every rule that no response can reach."""
        catching = [number for number, rule in enumerate(self.responses) if rule.catches_all]
        for number in range(catching[0] + 1 if catching else len(self.responses), len(self.responses)):
            message = "is never reached: the rule before it matches everything"
            yield Problem(("responses", number), message, warning=True)
