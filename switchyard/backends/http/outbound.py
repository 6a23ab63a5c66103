"""Settings that http and stac share: allowed addresses, time limits, sizes and credentials."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from switchyard.config.action import Action
from switchyard.config.limits import Limits
from switchyard.config.model import Model
from switchyard.config.names import Host, LocalPath, Network
from switchyard.config.secrets import Secret
from switchyard.config.units import Interval, Size


class Timeouts(Model):
    """Time limits for parts of a request; all others are limited by the action's `timeout` alone."""

    connect: Interval = 5.0
    """How long connecting may take, including TLS."""
    read: Interval | None = None
    """The longest pause between two chunks of the response."""
    total: Interval | None = None
    """How long the whole exchange may take: at most the action's `timeout`, which is the default."""


class HttpLimits(Limits):
    """Limits on the size of a request and its response, and limits for the fleet."""

    request_body: Annotated[Size, Field(ge=1)] = 1024 * 1024
    """The largest body that is sent."""
    response_body: Annotated[Size, Field(ge=1)] = 1024 * 1024
    """How much of the response body is read; the rest is discarded unread."""
    headers: Annotated[Size, Field(ge=256)] = 16 * 1024
    """The largest set of headers, sent or received."""
    kept_body: Size = 16 * 1024
    """How much of each body is stored for `switchyard show`."""


class Tls(Model):
    """Trusted certificates and the client certificate. Certificates are always verified."""

    ca: LocalPath | None = None
    """A file of certificates to trust instead of the system's."""
    certificate: Secret | None = None
    """Our certificate (PEM), for mutual TLS."""
    key: Secret | None = None
    """The key of our certificate (PEM)."""

    @model_validator(mode="after")
    def _paired(self) -> Self:
        if (self.certificate is None) != (self.key is None):
            raise ValueError("mutual TLS needs both certificate and key")
        return self


class Auth(Model):
    """Credentials by reference: a bearer token, or a user with a password."""

    bearer: Secret | None = None
    """Sent as `Authorization: Bearer …`."""
    user: str | None = None
    """The user of HTTP basic authentication."""
    password: Secret | None = None
    """The password of HTTP basic authentication."""

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if (self.user is None) != (self.password is None):
            raise ValueError("basic authentication needs both user and password")
        if (self.bearer is None) == (self.user is None):
            raise ValueError("give either bearer, or user and password")
        return self


class OutboundAction(Action):
    """An action that sends HTTP requests."""

    timeouts: Timeouts = Timeouts()
    """Time limits for parts of the request, within `timeout`."""
    limits: HttpLimits = HttpLimits()
    """Limits on size, and those that all conductors share."""
    allow_networks: tuple[Network, ...] = ()
    """Private networks that requests may reach nevertheless, like 10.20.0.0/16."""
    allow_hosts: tuple[Host, ...] = ()
    """Hosts that may be called although their address is private; `*.example` matches all subdomains."""
    redirects: Annotated[int, Field(ge=0, le=10)] = 0
    """How many redirects are followed; each address is checked like the first."""
    tls: Tls = Tls()
    """Trusted certificates and mutual TLS."""
    auth: Auth | None = None
    """Credentials for every request."""

    @property
    def total_timeout(self) -> float:
        """Seconds that one exchange may take."""
        return self.timeout if self.timeouts.total is None else self.timeouts.total

    @model_validator(mode="after")
    def _within_timeout(self) -> Self:
        if self.timeouts.total is not None and self.timeouts.total > self.timeout:
            raise ValueError("timeouts.total is longer than timeout: raise timeout or lower total")
        return self
