"""Certificates made on the spot: an authority, and servers and clients with whatever is wrong with them."""

import ipaddress
import ssl
import tempfile
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

NOW = datetime.now(UTC)
DAY = timedelta(days=1)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _alternative(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


class Authority:
    """Issues certificates; `None` as authority means self-signed."""

    def __init__(self, name: str) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = _name(name)
        builder = _builder(self.name, self.name, self.key, NOW - DAY, NOW + DAY)
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        usage = x509.KeyUsage(True, False, False, False, False, True, True, False, False)
        builder = builder.add_extension(usage, critical=True)
        identifier = x509.SubjectKeyIdentifier.from_public_key(self.key.public_key())
        self.pem = _pem(builder.add_extension(identifier, critical=False).sign(self.key, hashes.SHA256()))

    def issue(self, *hosts: str, begins: datetime = NOW - DAY, ends: datetime = NOW + DAY) -> tuple[str, str]:
        """A certificate and its key, as PEM texts."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(_name(hosts[0]), self.name, key, begins, ends)
        names = x509.SubjectAlternativeName([_alternative(host) for host in hosts])
        identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key())
        builder = builder.add_extension(names, critical=False).add_extension(identifier, critical=False)
        return _pem(builder.sign(self.key, hashes.SHA256())), _key_pem(key)


def self_signed(host: str) -> tuple[str, str]:
    """A certificate that vouches for itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    builder = _builder(_name(host), _name(host), key, NOW - DAY, NOW + DAY)
    names = x509.SubjectAlternativeName([_alternative(host)])
    return _pem(builder.add_extension(names, critical=False).sign(key, hashes.SHA256())), _key_pem(key)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, begins: datetime, ends: datetime
) -> x509.CertificateBuilder:
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key.public_key())
    builder = builder.serial_number(x509.random_serial_number())
    return builder.not_valid_before(begins).not_valid_after(ends)


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode()


def _key_pem(key: ec.EllipticCurvePrivateKey) -> str:
    form, none = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, form, none).decode()


@lru_cache(maxsize=1)
def trusted() -> Authority:
    """The authority that the tests' actions trust."""
    return Authority("Trusted")


@lru_cache(maxsize=1)
def other() -> Authority:
    """One that nobody trusts."""
    return Authority("Other")


@lru_cache(maxsize=1)
def folder() -> Path:
    """Where the files of this session lie."""
    return Path(tempfile.mkdtemp(prefix="switchyard-certificates-"))


def file_of(text: str, name: str) -> Path:
    """The text as a file."""
    path = folder() / name
    path.write_text(text)
    return path


def serving(pair: tuple[str, str], *, clients: Authority | None = None) -> ssl.SSLContext:
    """A server's context; with `clients`, it asks for a certificate of that authority."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file_of(pair[0] + pair[1], f"{abs(hash(pair))}.pem"))
    if clients is not None:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(cadata=clients.pem)
    return context
