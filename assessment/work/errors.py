"""What an error of the queue means for the worker: give up, or wait and go on."""

from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, PartialCredentialsError

from switchyard.aws.client import code_of
from switchyard.errors import SwitchyardError
from switchyard.process.exit import Exit

_MISSING = {"QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue"}
_CREDENTIALS = {
    "InvalidAccessKeyId",
    "InvalidClientTokenId",
    "SignatureDoesNotMatch",
    "UnrecognizedClientException",
}
_DENIED = {
    *("AccessDenied", "AccessDeniedException"),
    *("KmsAccessDenied", "KmsDisabled", "KmsNotFound"),
    *("KMS.AccessDeniedException", "KMS.DisabledException", "KMS.NotFoundException"),
}
_GONE = {"ReceiptHandleIsInvalid", "InvalidParameterValue", "MessageNotInflight"}


class FatalQueueError(SwitchyardError):
    """The queue will not work for us until somebody changes something."""

    def __init__(self, message: str, exit_with: Exit, *, missing: bool = False) -> None:
        super().__init__(message)
        self.exit_with, self.missing = exit_with, missing


def fatal(error: Exception, doing: str) -> FatalQueueError | None:
    """The fatal error that it is; None where waiting may help."""
    code = code_of(error)
    if isinstance(error, NoCredentialsError | PartialCredentialsError) or code in _CREDENTIALS:
        return FatalQueueError(
            f"cannot {doing}: the credentials are not accepted ({_said(error)})", Exit.CONFIG
        )
    if code in _MISSING:
        return FatalQueueError(f"cannot {doing}: there is no such queue ({code})", Exit.CONFIG, missing=True)
    if code in _DENIED:
        return FatalQueueError(f"cannot {doing}: not allowed ({_said(error)})", Exit.FAILURE)
    return None


def transient(error: Exception) -> bool:
    """An error of the network or of AWS, not a surprise."""
    return isinstance(error, ClientError | BotoCoreError)


def receipt_expired(error: Exception) -> bool:
    """We no longer hold the message: it was delivered to another worker, or deleted."""
    return code_of(error) in _GONE


def _said(error: Exception) -> str:
    return code_of(error) or type(error).__name__
