"""One S3 client per process and environment: creating one takes 0.1 s, and it is thread-safe."""

import os
import threading
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from boto3.s3.transfer import TransferConfig

from switchyard.aws.client import s3

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_MIB = 1 << 20
_lock = threading.Lock()


def client() -> "S3Client":
    """The client for the AWS_… variables as they are now."""
    environment = frozenset(item for item in os.environ.items() if item[0].startswith("AWS_"))
    with _lock:  # one client, however many ask for it first
        return _client(environment)


@lru_cache(maxsize=4)
def _client(_environment: frozenset[tuple[str, str]]) -> "S3Client":
    made = s3(path_style=False)
    if _is_amazon(made):
        return made
    made.close()
    # Other servers seldom have a name for each bucket.
    return s3(path_style=True)


def _is_amazon(made: "S3Client") -> bool:
    host = urlsplit(made.meta.endpoint_url).hostname or ""
    return host.endswith((".amazonaws.com", ".amazonaws.com.cn"))


def transfer() -> TransferConfig:
    """Files above 16 MiB go up and come down in parts, four at a time."""
    return TransferConfig(multipart_threshold=16 * _MIB, multipart_chunksize=16 * _MIB, max_concurrency=4)
