"""Creates clients from the configuration; credentials are read here, once, and registered for masking."""

import base64
import os
import ssl
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from switchyard.backends.http.address import AddressPolicy
from switchyard.backends.http.outbound import Auth, OutboundAction, Tls
from switchyard.backends.http.redact import remember
from switchyard.backends.http.send import Client, SendLimits
from switchyard.config.secrets import SecretRef
from switchyard.errors import ConfigError


def tls_context(
    *, authority: str | None = None, certificate: str | None = None, key: str | None = None
) -> ssl.SSLContext:
    """A verifying context. All three are PEM texts, which errors do not contain."""
    try:
        context = ssl.create_default_context(cadata=authority)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        if certificate is not None:
            _present(context, certificate, key)
    except (ssl.SSLError, ValueError, OSError) as error:
        raise ConfigError(f"the TLS settings cannot be used: {_why(error)}") from None
    return context


def _present(context: ssl.SSLContext, certificate: str, key: str | None) -> None:
    """Load the certificate from a temporary private file, as OpenSSL reads keys only from files."""
    descriptor, name = tempfile.mkstemp()  # mode 0600
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(certificate.rstrip("\n") + "\n" + (key or ""))
        # A key with a passphrase would prompt on the terminal.
        context.load_cert_chain(name, password=lambda: "")
    finally:
        Path(name).unlink()


def _why(error: Exception) -> str:
    return getattr(error, "reason", None) or type(error).__name__


def secret_text(secret: SecretRef | str) -> str:
    """The secret itself, which is masked from now on wherever it would be shown."""
    text = secret.resolve() if isinstance(secret, SecretRef) else secret
    remember(text)
    return text


def secret_texts(secrets: Mapping[str, Any]) -> dict[str, str]:
    """The `secrets` of templates."""
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
    limits = SendLimits(
        connect=action.timeouts.connect,
        read=action.timeouts.read,
        total=total,
        answer=action.limits.response_body,
        headers=action.limits.headers,
        redirects=action.redirects,
    )
    return Client(
        AddressPolicy(action.allow_networks, action.allow_hosts),
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
