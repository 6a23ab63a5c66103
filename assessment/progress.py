"""The type of progress callbacks."""

from collections.abc import Callable

Progress = Callable[[float, str], None]
"""Called between steps with the completed share, 0 to 1, and the next step. It may raise to stop the work."""


def silent(_done: float, _step: str) -> None:
    """A progress callback that does nothing."""
