"""From the configuration to the parts: credentials are read here, once, and remembered to be masked."""

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from switchyard.backends.http.address import Policy
from switchyard.backends.http.client import Client, Limits
from switchyard.backends.http.outbound import Auth, OutboundAction, Tls
from switchyard.backends.http.redact import remember
from switchyard.backends.http.tls import tls_context
from switchyard.config.secrets import SecretRef
from switchyard.errors import ConfigError


def secret_text(secret: SecretRef | str) -> str:
    """The secret itself, masked from now on wherever it would be shown."""
    text = secret.resolve() if isinstance(secret, SecretRef) else secret
    remember(text)
    return text


def secret_texts(secrets: Mapping[str, Any]) -> dict[str, str]:
    """What templates see as `secrets`."""
    return {name: secret_text(secret) for name, secret in secrets.items()}


def authorization(auth: Auth | None) -> str | None:
    """The Authorization header that goes with every request."""
    if auth is None:
        return None
    if auth.bearer is not None:
        return f"Bearer {secret_text(auth.bearer)}"
    assert auth.password is not None, "the configuration has both or none"
    pair = f"{auth.user}:{secret_text(auth.password)}"
    remember(pair)
    return f"Basic {base64.b64encode(pair.encode()).decode()}"


def client_for(action: OutboundAction) -> Client:
    """The client with this action's policy, limits and certificates."""
    total = action.total_timeout
    limits = Limits(
        connect=action.timeouts.connect,
        read=action.timeouts.read,
        total=total,
        answer=action.limits.response_body,
        headers=action.limits.headers,
        redirects=action.redirects,
    )
    return Client(
        Policy(action.allow_networks, action.allow_hosts),
        _tls(action.tls),
        limits,
        concurrency=action.concurrency,
        # A pooled connection may be found dead only after something was sent on it.
        reuse=action.delivery != "at_most_once",
    )


def _tls(tls: Tls) -> Any:
    authority = None if tls.ca is None else _read(tls.ca)
    certificate = None if tls.certificate is None else secret_text(tls.certificate)
    key = None if tls.key is None else secret_text(tls.key)
    return tls_context(authority=authority, certificate=certificate, key=key)


def _read(path: Path) -> str:
    try:
        return path.read_text("ascii")
    except (OSError, ValueError) as error:
        raise ConfigError(f"tls.ca: {path} cannot be read: {type(error).__name__}") from None
