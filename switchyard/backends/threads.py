"""Blocking calls of one handler or source, in threads of its own.

A client library that hangs occupies its own threads, at most `most` of them, and not the executor that all of
asyncio shares: another action name never waits for it. A call whose awaiter gave up counts until it has
really ended. The threads are daemons: a long poll under way never delays the end of the process.
"""

import asyncio
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Threads:
    """At most this many calls at a time; further ones wait."""

    def __init__(self, most: int) -> None:
        self._free = asyncio.Semaphore(most)

    async def run(self, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """What the call returns or raises."""
        await self._free.acquire()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def settle(error: BaseException | None, result: T | None) -> None:
            self._free.release()
            if future.cancelled():
                return
            if error is not None:
                future.set_exception(error)
            else:
                future.set_result(result)  # type: ignore[arg-type]  # None only where T is None

        def work() -> None:
            error, result = None, None
            try:
                result = call(*args, **kwargs)
            except BaseException as raised:  # noqa: BLE001 - it is raised again where it is awaited
                error = raised
            if not loop.is_closed():
                loop.call_soon_threadsafe(settle, error, result)

        try:
            threading.Thread(target=work, name="backend", daemon=True).start()
        except RuntimeError:  # the system has no more threads
            self._free.release()
            raise
        return await future
