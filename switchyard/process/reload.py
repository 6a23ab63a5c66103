"""Reloads the configuration file on SIGHUP and after a change; an invalid one is only reported.

A file that is being written may be empty or incomplete for a moment, and one on a network disk may not
answer: so a change is applied when two looks agree, reading has a deadline, in a thread that nothing waits
for at exit, and a file that suddenly has no actions is ignored. The last good configuration stays in effect.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from switchyard.config.config import Config
from switchyard.config.load import load
from switchyard.errors import ConfigError, SwitchyardError
from switchyard.process.log import get_logger

EVERY = 1.0
SETTLED = 0.2  # between the two looks
SLOW = 60.0  # until the next look at a disk that does not answer
READ_WITHIN = 15.0

Result = TypeVar("Result")
State = tuple[int, int, int] | None

log = get_logger(__name__)


class Reload:
    """Watches the file of a program; `ask()` reads it whether it changed or not."""

    name = "configuration"

    def __init__(
        self, path: Path | None, config: Config, apply: Callable[[Config], Awaitable[None]], seen: State
    ) -> None:
        """`seen`: the state of the file before the configuration was read from it."""
        self._path, self._config, self._apply = path, config, apply
        self._seen = seen
        self._last = state_of(path)
        self._asked = False
        self.problem: str | None = None

    def ask(self) -> None:
        """Read the file at the next call of `run_once`."""
        self._asked = True

    async def run_once(self) -> float:
        """Look at the file; read it if requested, or if it has changed and is stable again."""
        try:
            state = await within(READ_WITHIN, state_of, self._path)
        except ConfigError as error:
            self._refused(error)
            return SLOW
        settled, self._last = state == self._last, state
        changed = state is not None and state != self._seen
        if changed and not settled and not self._asked:
            return SETTLED
        if changed or self._asked:
            self._asked, self._seen = False, state
            await self._read()
        return EVERY

    async def _read(self) -> None:
        try:
            found = await within(READ_WITHIN, load, self._path)
            if self._config.actions and not found.actions:
                raise ConfigError("it names no actions any more")
            if found != self._config:
                await self._apply(found)
        except SwitchyardError as error:
            self._refused(error)
            return
        changed, self._config, self.problem = found != self._config, found, None
        log.info("the configuration was read again", changed=changed, fingerprint=found.fingerprint()[:12])

    def _refused(self, error: SwitchyardError) -> None:
        self.problem = f"the file cannot be used: {error}"
        log.warning("the configuration stays as it was", error=str(error))


async def within(seconds: float, function: Callable[..., Result], *arguments: object) -> Result:
    """The function's result; ConfigError if it takes too long: its thread is then abandoned."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Result] = loop.create_future()

    def settle(result: Result | None, error: BaseException | None) -> None:
        if future.cancelled():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]

    def work() -> None:
        result, error = None, None
        try:
            result = function(*arguments)
        except Exception as raised:  # noqa: BLE001 - raised again where it is awaited
            error = raised
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=work, name="read", daemon=True).start()
    try:
        async with asyncio.timeout(seconds):
            return await future
    except TimeoutError:
        raise ConfigError(f"reading took longer than {seconds:g} s") from None


def state_of(path: Path | None) -> State:
    """A fingerprint of the file's metadata, which changes when the file is written."""
    try:
        found = path.stat() if path is not None else None
    except OSError:
        return None  # being replaced, or gone: the configuration in force stays
    return None if found is None else (found.st_ino, found.st_size, found.st_mtime_ns)
