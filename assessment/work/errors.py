"""Decides whether an error of the queue is fatal for the worker or transient."""

from botocore.exceptions import BotoCoreError, ClientError

from switchyard.aws.errors import Meaning, code_of, meaning_of
from switchyard.errors import SwitchyardError
from switchyard.process.exit import Exit


class FatalQueueError(SwitchyardError):
    """An error of the queue that does not disappear by itself."""

    def __init__(self, message: str, exit_with: Exit, *, missing: bool = False) -> None:
        super().__init__(message)
        self.exit_with, self.missing = exit_with, missing


def fatal(error: Exception, doing: str) -> FatalQueueError | None:
    """The fatal error, or None if waiting may help."""
    meaning = meaning_of(error)
    if meaning is Meaning.CREDENTIALS:
        return FatalQueueError(
            f"cannot {doing}: the credentials are not accepted ({_name(error)})", Exit.CONFIG
        )
    if meaning is Meaning.MISSING:
        text = f"cannot {doing}: there is no such queue ({_name(error)})"
        return FatalQueueError(text, Exit.CONFIG, missing=True)
    if meaning is Meaning.DENIED:
        return FatalQueueError(f"cannot {doing}: not allowed ({_name(error)})", Exit.FAILURE)
    return None


def transient(error: Exception) -> bool:
    """Whether this is a known error of the network or of AWS."""
    return isinstance(error, ClientError | BotoCoreError)


def _name(error: Exception) -> str:
    return code_of(error) or type(error).__name__
