"""A changed configuration file is read again, as SIGHUP does; a bad one is told of and changes nothing."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

EVERY = 1.0


class ConfigWatch:
    """Compares the file's inode, size and time; `ask()` reads it whether it changed or not."""

    name = "configuration"

    def __init__(self, path: Path, reload: Callable[[], Awaitable[None]]) -> None:
        self._path = path
        self._reload = reload
        self._seen = _state(path)
        self._asked = False

    def ask(self) -> None:
        """Read it at the next call."""
        self._asked = True

    async def run_once(self) -> float:
        """Reload where somebody asked or the file is another one."""
        state = await asyncio.to_thread(_state, self._path)
        if self._asked or (state is not None and state != self._seen):
            self._asked, self._seen = False, state
            await self._reload()
        return EVERY


def _state(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None  # being replaced, or gone: the configuration in force stays
    return found.st_ino, found.st_size, found.st_mtime_ns
