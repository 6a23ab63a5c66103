"""Ctrl-C, SIGTERM or the end of the terminal stops what runs; another Ctrl-C or SIGTERM ends it at once."""

from contextlib import ExitStack
from types import TracebackType
from typing import Self

from switchyard.process.signals import handled


class Stop:
    """While entered, the first signal raises KeyboardInterrupt; `check` raises it where it was lost.

    It is lost where Python swallows exceptions, as in a destructor.
    """

    def __init__(self) -> None:
        self._asked = False
        self._handled = ExitStack()

    def check(self) -> None:
        """Raise if a stop was requested."""
        if self._asked:
            raise KeyboardInterrupt

    def __enter__(self) -> Self:
        self._handled.enter_context(handled(self._ask, self._ask))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._handled.close()

    def _ask(self) -> None:
        if not self._asked:
            self._asked = True
            raise KeyboardInterrupt
