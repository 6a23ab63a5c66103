"""Threads for blocking calls, a fixed number per action name: a hanging backend blocks only its own.

`asyncio.to_thread`, name resolution and everything else on the event loop's default executor runs here. The
action name of the calling task is in a context variable; calls without one (the configuration file)
have their own threads too.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import Context, ContextVar, copy_context
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

MOST = 32  # threads of one action name, whatever its concurrency
LEAST = 4

_serving: ContextVar[tuple[str, int]] = ContextVar("serving", default=("", LEAST))


def serving(name: str, concurrency: int) -> Context:
    """A context for tasks whose blocking calls, also in tasks that they start, belong to this name."""
    context = copy_context()
    context.run(_serving.set, (name, max(LEAST, min(MOST, concurrency + 1))))
    return context


class ThreadsPerName(ThreadPoolExecutor):
    """The default executor of a conductor's event loop, with one executor per action name behind it."""

    def __init__(self) -> None:
        super().__init__(max_workers=1)  # never used by itself
        self._behind: dict[tuple[str, int], ThreadPoolExecutor] = {}
        self._making = threading.Lock()

    def submit(self, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run it in a thread of the current action name."""
        serves = _serving.get()
        with self._making:
            executor = self._behind.get(serves)
            if executor is None:
                name, most = serves
                executor = self._behind[serves] = ThreadPoolExecutor(most, f"conductor {name}".strip())
        return executor.submit(call, *args, **kwargs)

    def shutdown(self, wait: bool = True, **options: Any) -> None:
        """End them all."""
        super().shutdown(wait, **options)
        for executor in self._behind.values():
            executor.shutdown(wait, **options)
