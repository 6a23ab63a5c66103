"""TLS as it should be: verified, 1.2 or newer, with a client certificate where the deployment has one."""

import os
import ssl
import tempfile
from pathlib import Path

from switchyard.errors import ConfigError


def tls_context(
    *, authority: str | None = None, certificate: str | None = None, key: str | None = None
) -> ssl.SSLContext:
    """A verifying context. All three are PEM texts; no error repeats them."""
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
    """OpenSSL reads a private key from files only: one that nobody else can open, gone at once."""
    descriptor, name = tempfile.mkstemp()  # mode 0600
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(certificate.rstrip("\n") + "\n" + (key or ""))
        # A key with a passphrase would ask on the terminal.
        context.load_cert_chain(name, password=lambda: "")
    finally:
        Path(name).unlink()


def _why(error: Exception) -> str:
    return getattr(error, "reason", None) or type(error).__name__
