"""How things are named: action names, workflows, callbacks, secrets, hosts, headers, addresses."""

import re
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, Field, PlainSerializer, PlainValidator, ValidationInfo, WithJsonSchema

NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_.-]*$"
_HOST = re.compile(
    r"(\*\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", re.IGNORECASE
)


def check_host(text: str) -> str:
    """A host name in lower case; `*.` at its front means every host below it."""
    if len(text) > 253 or not _HOST.fullmatch(text):
        raise ValueError("a host is written like hooks.example or *.example, without scheme, port or path")
    return text.lower()


def check_endpoint(text: str) -> str:
    """An http(s) address without user, password, query or fragment."""
    parts = split_url(text)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("an address is written like https://host:port/path")
    if parts.query or parts.fragment:
        raise ValueError("an address may have no query and no fragment")
    return text.rstrip("/")


def check_network(value: Any) -> IPv4Network | IPv6Network:
    """A network or a single address, without bits beyond its prefix."""
    try:
        return ip_network(str(value) if isinstance(value, str | IPv4Network | IPv6Network) else "")
    except ValueError:
        raise ValueError("a network is written like 10.20.0.0/16 or fd00::/8") from None


def locate(path: Path, info: ValidationInfo) -> Path:
    """A path relative to the configuration file, with `~` for the home folder."""
    try:
        folder = (info.context or {}).get("folder")
        return path.expanduser() if folder is None else folder.absolute() / path.expanduser()
    except RuntimeError:
        raise ValueError("there is no home folder to put in the place of ~") from None


def check_store(text: str) -> str:
    """Where objects are stored: an absolute folder or a bucket."""
    parts = split_url(text)
    if parts.scheme == "file" and not parts.netloc and parts.path.startswith("/"):
        return text
    if parts.scheme == "s3" and parts.netloc:
        return text
    raise ValueError("a store is written like file:///var/lib/switchyard or s3://bucket/prefix")


def split_url(text: str) -> SplitResult:
    """The parts of an address; one with a password in it is refused without being repeated."""
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        raise ValueError("this is not an address") from None
    if parts.username is not None or parts.password is not None:
        raise ValueError("an address must hold no user or password: secrets are given by reference")
    if any(ord(character) <= 0x20 or ord(character) == 0x7F for character in text):
        raise ValueError("an address has no spaces or control characters")
    return parts


Name = Annotated[
    str,
    Field(pattern=NAME_PATTERN, max_length=200, examples=["webhook", "nutrient-assessment"]),
]
Host = Annotated[str, AfterValidator(check_host)]
Endpoint = Annotated[str, AfterValidator(check_endpoint)]
StoreUrl = Annotated[str, AfterValidator(check_store)]
HeaderName = Annotated[str, Field(pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$", max_length=200)]
EnvName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=200)]
KubernetesName = Annotated[
    str, Field(pattern=r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$", max_length=253, examples=["nutrient-assessment"])
]
PlainText = Annotated[str, Field(pattern=r"^[^\x00]*$", max_length=10_000)]
Region = Annotated[str, Field(pattern=r"^[a-z]{2}(-[a-z]+)+-[0-9]+$", examples=["eu-west-2"])]
StateMachineArn = Annotated[
    str,
    Field(
        pattern=r"^arn:aws[a-z-]*:states:[a-z0-9-]+:[0-9]{12}:stateMachine:[^\s\x00]{1,160}$",
        examples=["arn:aws:states:eu-west-2:123456789012:stateMachine:nutrient"],
    ),
]
QueueName = Annotated[
    str,
    Field(
        pattern=r"^(https?://[^\s@]+|[A-Za-z0-9_-]{1,75}(\.fifo)?)$",
        examples=["jobs", "https://sqs.eu-west-2.amazonaws.com/123456789012/jobs"],
    ),
]
Network = Annotated[
    IPv4Network | IPv6Network,
    PlainValidator(check_network),
    PlainSerializer(str),
    WithJsonSchema({"type": "string", "examples": ["10.20.0.0/16"]}),
]
LocalPath = Annotated[Path, AfterValidator(locate)]
