"""One S3 client a process and environment: making one takes a tenth of a second, using it is thread-safe."""

import os
import threading
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError

from switchyard.errors import ConfigError

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_MIB = 1 << 20
_lock = threading.Lock()


def client() -> "S3Client":
    """The client for the AWS_… variables as they are now."""
    environment = frozenset(item for item in os.environ.items() if item[0].startswith("AWS_"))
    with _lock:  # sessions are not thread-safe while they make a client
        return _client(environment)


@lru_cache(maxsize=4)
def _client(_environment: frozenset[tuple[str, str]]) -> "S3Client":
    try:
        made = _make(path_style=False)
        if _is_amazon(made):
            return made
        made.close()
        # Other servers seldom have a name for each bucket.
        return _make(path_style=True)
    except (BotoCoreError, ValueError) as error:
        raise ConfigError(f"the S3 client cannot be set up: {error}") from error


def _is_amazon(made: "S3Client") -> bool:
    host = urlsplit(made.meta.endpoint_url).hostname or ""
    return host.endswith((".amazonaws.com", ".amazonaws.com.cn"))


def _make(*, path_style: bool) -> "S3Client":
    settings = Config(
        connect_timeout=5,
        read_timeout=30,
        retries={"mode": "standard", "total_max_attempts": 4},
        max_pool_connections=32,
        tcp_keepalive=True,
        s3={"addressing_style": "path" if path_style else "auto"},
    )
    session = boto3.session.Session()
    return session.client("s3", config=settings, region_name=session.region_name or "us-east-1")


def transfer() -> TransferConfig:
    """Files above 16 MiB go up and come down in parts, four at a time."""
    return TransferConfig(multipart_threshold=16 * _MIB, multipart_chunksize=16 * _MIB, max_concurrency=4)
