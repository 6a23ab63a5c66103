"""Settings of signalbox, the HTTP API and dashboard."""

import ipaddress
from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from switchyard.config.daemons import Health
from switchyard.config.model import Model
from switchyard.config.names import HeaderName, Name
from switchyard.config.units import Interval


def _network(value: str) -> str:
    return str(ipaddress.ip_network(value))


Network = Annotated[str, AfterValidator(_network)]
RoleName = Literal["reader", "submitter", "operator", "admin"]


class Listen(Model):
    """An address and a port."""

    host: str = "127.0.0.1"
    """The address it listens at; 0.0.0.0 for all."""
    port: Annotated[int, Field(ge=0, le=65535)] = 8080
    """The port; 0 takes any that is free and logs it."""

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach it."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


class Jwt(Model):
    """JWTs of an issuer."""

    issuer: str
    """The `iss` of its tokens."""
    audience: str
    """The `aud` that its tokens have for this API."""
    jwks: Annotated[str, Field(pattern=r"^https?://")]
    """Where it publishes its keys; they are fetched again when a token names an unknown one."""
    algorithms: tuple[Literal["RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA"], ...] = (
        "RS256",
        "ES256",
    )
    """The signatures that are accepted."""
    name_claim: str = "sub"
    """The claim that names the caller."""
    role_claim: str = "roles"
    """The claim that lists the caller's groups."""
    roles: Mapping[str, RoleName]
    """The role of each group; the strongest counts, and a caller without any is refused."""


class Proxy(Model):
    """A proxy in front that authenticates callers."""

    networks: Annotated[tuple[Network, ...], Field(min_length=1)]
    """Where it sends from, like 10.1.0.0/16; its headers are believed from there only."""
    user_header: HeaderName = "x-forwarded-user"
    """The header that names the caller."""
    groups_header: HeaderName = "x-forwarded-groups"
    """The header that lists the caller's groups, separated by commas."""
    roles: Mapping[str, RoleName] = {}
    """The role of each group; the strongest counts."""
    role: RoleName | None = None
    """The role of callers whose groups give none; without it, they are refused."""


class Access(Model):
    """Who may call. By default, all calls need credentials."""

    tokens: bool = True
    """Whether tokens that `switchyard token add` made are accepted."""
    jwt: Jwt | None = None
    """JWTs of an issuer."""
    proxy: Proxy | None = None
    """A proxy in front that authenticates callers."""
    anonymous: RoleName | None = None
    """The role of callers without credentials; only where it listens on a loopback address."""


class Signalbox(Model):
    """The HTTP API (OGC API Processes) and the dashboard."""

    listen: Listen = Listen()
    """Where it listens."""
    base_path: Annotated[str, Field(pattern=r"^(/[A-Za-z0-9._~-]+)*$")] = ""
    """The prefix of every path, where a proxy passes on a part of its paths: /switchyard."""
    public_url: Annotated[str, Field(pattern=r"^https?://[^/?#]+$")] | None = None
    """Scheme and host of links, like https://jobs.example; without it, those of the request."""
    subscriber_action: Name | None = None
    """The action of type http that calls the subscribers of jobs; without it, subscribers are refused."""
    callback_actions: tuple[Name, ...] = ()
    """The actions that callbacks of a submission over HTTP may call; without it, they are refused."""
    access: Access = Access()
    """Who may call."""
    poll: Interval = 0.5
    """How often the stream looks for changes while a page is open."""
    connections: Annotated[int, Field(ge=1, le=1000)] = 10
    """How many database connections it uses at most."""
    grace: Interval = 10.0
    """How long a stop waits for requests under way."""
    health: Health = Health(port=8083)
    """The health and metrics server."""

    @model_validator(mode="after")
    def _anonymous_on_loopback_only(self) -> Self:
        if self.access.anonymous is not None and not self.listen.loopback:
            raise ValueError(
                f"anonymous access is for loopback addresses only, and it listens at {self.listen.host}: "
                "remove access.anonymous, or listen at 127.0.0.1"
            )
        return self
