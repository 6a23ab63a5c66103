"""The handler that does nothing, successfully: for drills, benchmarks and placeholders."""

from typing import Any

from switchyard.handlers import Batch, HandlerContext, Outcome, Success, Work

_DONE = Success()


class NoopHandler:
    """Answers success at once, for one or for many."""

    def __init__(self, name: str, _action: Any, _context: HandlerContext) -> None:
        self.name = name

    async def start(self) -> None:
        """Nothing to open."""

    async def dispatch(self, _work: Work, /) -> Outcome:
        """Success."""
        return _DONE

    def dispatch_all(self, _batch: Batch, /) -> Outcome:
        """Success, for all of them."""
        return _DONE

    async def close(self) -> None:
        """Nothing to let go of."""
