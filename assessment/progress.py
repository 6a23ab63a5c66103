"""How an assessment reports its progress."""

from collections.abc import Callable

Progress = Callable[[float, str], None]
"""Called between steps with how much is done, 0 to 1, and what comes next. It may raise to stop the work."""


def silent(_done: float, _step: str) -> None:
    """Progress that nobody watches."""
