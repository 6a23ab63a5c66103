"""Translates errors of S3 and botocore."""

from collections.abc import Iterator
from contextlib import contextmanager

from boto3.exceptions import Boto3Error
from botocore.exceptions import (
    BotoCoreError,
    ChecksumError,
    ClientError,
    CredentialRetrievalError,
    HTTPClientError,
    IncompleteReadError,
    NoCredentialsError,
    PartialCredentialsError,
    SSLError,
)
from botocore.exceptions import ConnectionError as NoConnectionError
from s3transfer.exceptions import RetriesExceededError
from urllib3.exceptions import HTTPError

from switchyard.aws.errors import Meaning, code_of, meaning_of
from switchyard.errors import StoreError, StoreMissing, StoreUnavailable

_NO_ANSWER = (
    ChecksumError,
    CredentialRetrievalError,
    HTTPClientError,
    HTTPError,
    IncompleteReadError,
    NoConnectionError,
    RetriesExceededError,
)
_ADVICE = {
    "AccessDenied": "the credentials may not do it (without s3:ListBucket S3 says so of missing objects too)",
    "403": "the credentials may not do it (without s3:ListBucket S3 says so of missing objects too)",
    "InvalidAccessKeyId": "the access key is not known there",
    "SignatureDoesNotMatch": "the secret key is wrong",
    "ExpiredToken": "the session token has expired",
    "NoSuchBucket": "there is no such bucket",
    "EntityTooLarge": "the object is too large for this store",
}


def is_missing(error: ClientError) -> bool:
    """Whether the object does not exist; a missing bucket is a different error."""
    return meaning_of(error) is Meaning.NO_OBJECT


@contextmanager
def explained(doing: str, url: str) -> Iterator[None]:
    """Turn an error of S3 or of the way to it into the StoreError that it means."""
    try:
        yield
    except ClientError as error:
        raise _from_answer(error, doing, url) from error
    except (NoCredentialsError, PartialCredentialsError) as error:
        raise StoreError(
            f"cannot {doing} {url}: no credentials; set AWS_ACCESS_KEY_ID or a profile or role"
        ) from error
    except SSLError as error:
        raise StoreError(f"cannot {doing} {url}: the server's certificate is not good: {error}") from error
    except _NO_ANSWER as error:
        raise StoreUnavailable(
            f"cannot {doing} {url}: the store does not answer ({type(error).__name__})"
        ) from error
    except (BotoCoreError, Boto3Error) as error:
        raise StoreError(f"cannot {doing} {url}: {error}") from error


def _from_answer(error: ClientError, doing: str, url: str) -> StoreError:
    code = code_of(error)
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    if is_missing(error):
        return StoreMissing(f"there is no object {url}")
    passing = meaning_of(error) is Meaning.TRANSIENT or status >= 500 or status == 429
    kind = StoreUnavailable if passing else StoreError
    said = _ADVICE.get(code) or error.response.get("Error", {}).get("Message") or code
    return kind(f"cannot {doing} {url}: {said} ({code or status})")
