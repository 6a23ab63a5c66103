"""What AWS's error codes mean: one table for SQS, Step Functions and S3."""

from enum import Enum, auto

from botocore.exceptions import (
    ClientError,
    HTTPClientError,
    NoCredentialsError,
    NoRegionError,
    PartialCredentialsError,
)

from switchyard.errors import BadInput, ConfigError, SwitchyardError, Transient


class Meaning(Enum):
    """What an error means for the caller."""

    CREDENTIALS = auto()  # there are none, or they are not accepted
    DENIED = auto()  # they may not do this
    MISSING = auto()  # there is no such queue, state machine or bucket
    NO_OBJECT = auto()  # there is no such object in the bucket
    BAD_INPUT = auto()  # the request can never work
    RECEIPT_EXPIRED = auto()  # the message went to another consumer, or was deleted
    TRANSIENT = auto()  # the same again may work


_CODES = {
    Meaning.CREDENTIALS: (
        *("InvalidAccessKeyId", "InvalidClientTokenId", "SignatureDoesNotMatch"),
        "UnrecognizedClientException",
    ),
    Meaning.DENIED: (
        *("AccessDenied", "AccessDeniedException", "403"),
        *("KmsAccessDenied", "KmsDisabled", "KmsNotFound"),
        *("KMS.AccessDeniedException", "KMS.DisabledException", "KMS.NotFoundException"),
    ),
    Meaning.MISSING: (
        *("QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue"),
        *("StateMachineDoesNotExist", "StateMachineDeleting", "NoSuchBucket"),
    ),
    Meaning.NO_OBJECT: ("NoSuchKey", "NotFound", "404"),
    Meaning.BAD_INPUT: (
        *("InvalidArn", "InvalidName", "InvalidExecutionInput"),
        *("InvalidMessageContents", "InvalidAddress", "EntityTooLarge"),
    ),
    Meaning.RECEIPT_EXPIRED: ("ReceiptHandleIsInvalid", "InvalidParameterValue", "MessageNotInflight"),
    Meaning.TRANSIENT: (
        *("InternalError", "OperationAborted", "ConditionalRequestConflict", "RequestTimeTooSkewed"),
        *("RequestTimeout", "ServiceUnavailable", "SlowDown", "ExpiredToken"),
        *("Throttling", "ThrottlingException", "RequestThrottled"),
    ),
}
MEANINGS = {code: meaning for meaning, codes in _CODES.items() for code in codes}
_PERMANENT = {Meaning.CREDENTIALS, Meaning.DENIED, Meaning.MISSING}


def code_of(error: Exception) -> str:
    """AWS's own name of the error, without the prefix that the old protocol puts before it."""
    if not isinstance(error, ClientError):
        return ""
    return error.response.get("Error", {}).get("Code", "").rsplit("#", 1)[-1]


def meaning_of(error: Exception) -> Meaning | None:
    """None where the table does not have it."""
    if isinstance(error, NoCredentialsError | PartialCredentialsError | NoRegionError):
        return Meaning.CREDENTIALS
    return MEANINGS.get(code_of(error))


def explained(error: Exception, doing: str) -> SwitchyardError:
    """It as one of our errors, with a message; a code that the table lacks is Transient."""
    meaning = meaning_of(error)
    message = f"cannot {doing}: {_text(error)}"
    if meaning is Meaning.BAD_INPUT:
        return BadInput(message)
    return ConfigError(message) if meaning in _PERMANENT else Transient(message)


def _text(error: Exception) -> str:
    if isinstance(error, ClientError):
        return f"{error.response.get('Error', {}).get('Message', 'no reason given')} ({code_of(error)})"
    if isinstance(error, HTTPClientError):
        return f"no answer ({type(error).__name__})"
    return str(error)
