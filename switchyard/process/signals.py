"""Signals: the first SIGTERM or SIGINT stops in order, the second ends the process at once, SIGHUP reloads.

Python's own handlers, not the event loop's: a loop that is stuck in Python code could otherwise not be ended
by the second signal. "At once" means that the process dies by the signal itself, so that its parent sees 143
or 130 and never one of our exit codes: those mean that the program stopped in order.
"""

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

STOPPING = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def handled(stop: Callable[[], None], reload: Callable[[], None] | None = None) -> Iterator[None]:
    """Inside the block, signals call `stop` once, and `reload` for every SIGHUP. Main thread only.

    Both run between two steps of whatever the main thread does, be it in the middle of a print: they must not
    write to a stream of Python's. Without `reload`, SIGHUP is ignored.
    """
    asked = False

    def on_stop(number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            end_at_once(number)
        asked = True
        stop()

    def on_reload(_number: int, _frame: FrameType | None) -> None:
        if reload is not None and not asked:
            reload()

    before = {number: signal.signal(number, on_stop) for number in STOPPING}
    before[signal.SIGHUP] = signal.signal(signal.SIGHUP, on_reload)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def handled_in_loop(stop: Callable[[], None], reload: Callable[[], None] | None = None) -> Iterator[None]:
    """The same for a program of asyncio: the callbacks run in the running loop, as if it had called them."""
    loop = asyncio.get_running_loop()

    def later(callback: Callable[[], None]) -> Callable[[], None]:
        def in_loop() -> None:
            loop.call_soon_threadsafe(callback)

        return in_loop

    with _woken_by_signals(loop), handled(later(stop), None if reload is None else later(reload)):
        yield


@contextmanager
def _woken_by_signals(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Python runs a handler when the main thread runs next, and a signal that another thread receives, or one
    that comes just before a loop with nothing to do goes to sleep, does not wake it."""
    reader, writer = socket.socketpair()
    with reader, writer:
        reader.setblocking(False)
        writer.setblocking(False)
        loop.add_reader(reader, reader.recv, 4096)
        before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(before)
            loop.remove_reader(reader)


def end_at_once(number: int) -> None:
    """Die by the signal; as process 1 of a container, which its own signals cannot kill, exit 128 + n."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    os._exit(128 + number)
