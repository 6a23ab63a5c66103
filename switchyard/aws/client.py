"""Clients for SQS and Step Functions, and what their errors mean. boto3 blocks: call it in a thread."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import boto3
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    HTTPClientError,
    NoCredentialsError,
    NoRegionError,
    PartialCredentialsError,
)

from switchyard.errors import BadInput, ConfigError, SwitchyardError, Transient

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_stepfunctions import SFNClient

_REGION = "us-east-1"  # where an endpoint is given without a region, any will do
_lock = threading.Lock()

_DENIED = {
    "AccessDenied",
    "AccessDeniedException",
    "InvalidAccessKeyId",
    "InvalidClientTokenId",
    "UnrecognizedClientException",
    "SignatureDoesNotMatch",
    "KMS.AccessDeniedException",
    "KMS.DisabledException",
    "KMS.NotFoundException",
}
_MISSING = {
    "QueueDoesNotExist",
    "AWS.SimpleQueueService.NonExistentQueue",
    "StateMachineDoesNotExist",
    "StateMachineDeleting",
}
_WRONG = {"InvalidArn", "InvalidName", "InvalidExecutionInput", "InvalidMessageContents", "InvalidAddress"}


def sqs(endpoint: str | None, region: str | None) -> "SQSClient":
    """A thread-safe client. Credentials, region and endpoint come the usual AWS ways unless given."""
    with _setting_up("sqs", endpoint, region) as (session, where):
        return session.client("sqs", endpoint_url=endpoint, region_name=where, config=_settings())


def step_functions(endpoint: str | None, region: str | None) -> "SFNClient":
    """The same for Step Functions."""
    with _setting_up("stepfunctions", endpoint, region) as (session, where):
        return session.client("stepfunctions", endpoint_url=endpoint, region_name=where, config=_settings())


@contextmanager
def _setting_up(
    service: str, endpoint: str | None, region: str | None
) -> Iterator[tuple[boto3.session.Session, str | None]]:
    with _lock:  # a session is not thread-safe while it makes a client
        try:
            session = boto3.session.Session()
            yield session, region or session.region_name or (_REGION if endpoint else None)
        except (BotoCoreError, ValueError) as error:
            raise ConfigError(f"the {service} client cannot be set up: {error}") from error


def _settings() -> Config:
    return Config(
        connect_timeout=5,
        read_timeout=30,  # longer than the longest long poll
        retries={"mode": "standard", "total_max_attempts": 2},
        max_pool_connections=32,
        tcp_keepalive=True,
    )


def code_of(error: Exception) -> str:
    """AWS's own name of the error, without the prefix that the old protocol puts before it."""
    if not isinstance(error, ClientError):
        return ""
    return error.response.get("Error", {}).get("Code", "").rsplit("#", 1)[-1]


def explained(error: Exception, doing: str) -> SwitchyardError:
    """The error of ours that it means, in a sentence for people."""
    code = code_of(error)
    said = f"cannot {doing}: {_text(error)}"
    if code in _WRONG:
        return BadInput(said)
    permanent = code in _DENIED | _MISSING or isinstance(
        error, NoCredentialsError | PartialCredentialsError | NoRegionError
    )
    return ConfigError(said) if permanent else Transient(said)


def _text(error: Exception) -> str:
    if isinstance(error, ClientError):
        return f"{error.response.get('Error', {}).get('Message', 'no reason given')} ({code_of(error)})"
    if isinstance(error, HTTPClientError):
        return f"no answer ({type(error).__name__})"
    return str(error)
