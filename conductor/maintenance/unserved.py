"""Tries again to start action names whose handler could not start: a secret, file or backend was away."""

from collections.abc import Awaitable, Callable

EVERY = 15.0


class Unserved:
    """The other names are served meanwhile."""

    name = "unserved names"

    def __init__(self, start: Callable[[], Awaitable[None]]) -> None:
        self._start = start

    async def run_once(self) -> float:
        """Start those that can be started by now."""
        await self._start()
        return EVERY
