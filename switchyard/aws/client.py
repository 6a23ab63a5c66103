"""One factory for boto3 clients, which are thread-safe once made."""

import threading
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError

from switchyard.errors import ConfigError

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_stepfunctions import SFNClient

CONNECT = 5.0
READ = 30.0  # longer than the longest long poll
ATTEMPTS = 2
_REGION = "us-east-1"  # where an endpoint is given without a region, any will do
_lock = threading.Lock()


def sqs(endpoint: str | None, region: str | None, *, within: float | None = None) -> "SQSClient":
    """A client for SQS; region and endpoint are found as AWS's own tools find them, unless given.

    `within`: the caller gives up after this many seconds, so a call with all its attempts ends before.
    """
    made: SQSClient = _made("sqs", _settings(within), endpoint, region)
    return made


def step_functions(endpoint: str | None, region: str | None, *, within: float | None = None) -> "SFNClient":
    """The same for Step Functions."""
    made: SFNClient = _made("stepfunctions", _settings(within), endpoint, region)
    return made


def s3(*, path_style: bool) -> "S3Client":
    """A client for the object store. Its calls are part of a dispatch, whose timeout is 30 s by default."""
    style = Config(s3={"addressing_style": "path" if path_style else "auto"})
    made: S3Client = _made("s3", _settings(30.0).merge(style), None, None, _REGION)
    return made


def _made(
    service: str, settings: Config, endpoint: str | None, region: str | None, default: str | None = None
) -> Any:
    with _lock:  # a session is not thread-safe while it makes a client
        try:
            session = boto3.session.Session()
            where = region or session.region_name or (_REGION if endpoint else default)
            # The stubs know a service by its literal name only.
            make: Any = session.client
            return make(service, endpoint_url=endpoint, region_name=where, config=settings)
        except (BotoCoreError, ValueError) as error:
            raise ConfigError(f"the {service} client cannot be set up: {error}") from error


def _settings(within: float | None) -> Config:
    """Connecting and reading, for each attempt; four fifths of `within` together, the rest is for pauses."""
    share = READ if within is None else 0.8 * within / ATTEMPTS
    return Config(
        connect_timeout=min(CONNECT, share / 4),
        read_timeout=min(READ, 3 * share / 4) if within is not None else READ,
        retries={"mode": "standard", "total_max_attempts": ATTEMPTS},
        max_pool_connections=32,
        tcp_keepalive=True,
    )
