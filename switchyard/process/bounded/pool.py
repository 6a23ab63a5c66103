"""The pool: one thread per child; the package's docstring lists the guarantees."""

import asyncio
import os
import pickle
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import Any, TypeVar

from switchyard.errors import EvaluationFailed, LimitExceeded, PoolUnavailable
from switchyard.process.bounded.child import EXCEEDED, RAISED, REQUEST
from switchyard.process.bounded.queue import Queue
from switchyard.process.bounded.server import Child, ChildDiedError, Reply, Server
from switchyard.process.log import get_logger

Result = TypeVar("Result")

SECONDS = 2.0
MEMORY = 256 * 2**20
LARGEST_RESULT = 16 * 2**20
ELAPSED = (30.0, 10.0)  # seconds, and for each second of CPU time: for a child that hangs
SIZE = max(2, min(4, os.cpu_count() or 2))

log = get_logger(__name__)


class Pool:
    """A few children that evaluate; safe from any thread and from any event loop."""

    def __init__(
        self,
        *,
        size: int = SIZE,
        waiting: int = 1000,
        preload: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        repeat: bool = True,
    ) -> None:
        """`environment`: variables for the children. `repeat`: call again where a child dies by itself."""
        self._size = size
        self._tries = 2 if repeat else 1
        self._queue: Queue[_Call] = Queue(most=waiting, of_a_group=size - 1)
        self._server = Server(preload, environment)
        self._threads: list[threading.Thread] = []
        self._starting = threading.Lock()

    async def run(
        self,
        function: Callable[..., Result],
        *arguments: Any,
        seconds: float = SECONDS,
        memory: int = MEMORY,
        group: str = "",
    ) -> Result:
        """The result of `function(*arguments)`; raises LimitExceeded, or EvaluationFailed if it raises."""
        call = self._submit(function, arguments, seconds, memory, group)
        try:
            result: Result = await asyncio.wrap_future(call.future)
        except asyncio.CancelledError:
            self._queue.remove(call)
            call.abandon()
            raise
        return result

    def call(
        self,
        function: Callable[..., Result],
        *arguments: Any,
        seconds: float = SECONDS,
        memory: int = MEMORY,
        group: str = "",
    ) -> Result:
        """The same, blocking the calling thread."""
        call = self._submit(function, arguments, seconds, memory, group)
        result: Result = call.future.result()
        return result

    def close(self) -> None:
        """End the children at once; calls that wait or run raise PoolUnavailable."""
        for call in self._queue.close():
            call.abandon()
        for thread in self._threads:
            thread.join()
        self._server.close()

    def _submit(
        self, function: Callable[..., Any], arguments: Any, seconds: float, memory: int, group: str
    ) -> "_Call":
        body = pickle.dumps((function.__module__, function.__qualname__, arguments))
        header = REQUEST.pack(len(body), seconds, memory, LARGEST_RESULT)
        least, factor = ELAPSED
        call = _Call(header + body, function.__qualname__, group, least + factor * seconds)
        self._queue.put(call)
        self._start_thread()
        return call

    def _start_thread(self) -> None:
        """One for each child, for as long as the pool: the server ends with the thread that started it.

        Daemons: a program that does not close the pool still ends, and its children with it.
        """
        if len(self._threads) == self._size:
            return
        with self._starting:
            if len(self._threads) < self._size:
                self._threads.append(threading.Thread(target=self._work, name="bounded", daemon=True))
                self._threads[-1].start()

    def _work(self) -> None:
        child: Child | None = None
        while (call := self._queue.take()) is not None:
            try:
                child = self._answered(call, child)
            except Exception as error:  # noqa: BLE001 - a thread that ends would take its share of the pool away
                log.warning("an evaluation could not be started", function=call.name, error=str(error))
                call.fail(PoolUnavailable(f"{call.name} could not be evaluated: {error}"))
                child = None
            finally:
                self._queue.done(call)
        if child is not None:
            child.end()

    def _answered(self, call: "_Call", child: Child | None) -> Child | None:
        """Settle the call; returns the child for the next one."""
        limit = "crash"
        for _ in range(self._tries):
            child = child or self._server.fork()
            if not call.assign(child):
                return child
            try:
                reply = child.ask(call.request, call.elapsed, LARGEST_RESULT)
            except ChildDiedError as death:
                child = None
                limit = death.limit or "crash"
                if death.limit or call.abandoned:
                    break
                log.warning("an evaluating process died", function=call.name, signal=death.signal)
            else:
                call.settle(reply)
                if not reply.leaving:
                    return child
                child.end()
                return None
        call.fail(LimitExceeded(call.name, limit))
        return None


class _Call:
    """One evaluation: waiting, then assigned to a child, then settled; or abandoned at any time."""

    def __init__(self, request: bytes, name: str, group: str, elapsed: float) -> None:
        self.request, self.name, self.group, self.elapsed = request, name, group, elapsed
        self.future: Future[Any] = Future()
        self.abandoned = False
        self._child: Child | None = None
        self._lock = threading.Lock()

    def assign(self, child: Child) -> bool:
        """Assign a child to the call; False if the caller no longer waits."""
        with self._lock:
            self._child = child
            return not self.abandoned

    def abandon(self) -> None:
        """Abandon the call; interrupts the child that computes it."""
        # Before the interrupt: otherwise the thread that is interrupted may report a crash first.
        self.fail(PoolUnavailable(f"{self.name} was not evaluated: the pool was closed"))
        with self._lock:
            self.abandoned = True
            if self._child is not None:
                self._child.interrupt()

    def settle(self, reply: Reply) -> None:
        """Settle the call with the child's reply."""
        with self._lock:
            self._child = None
        if reply.kind == EXCEEDED:
            self.fail(LimitExceeded(self.name, reply.value))
        elif reply.kind == RAISED:
            self.fail(EvaluationFailed(self.name, *reply.value))
        else:
            with suppress(InvalidStateError):
                self.future.set_result(reply.value)

    def fail(self, error: Exception) -> None:
        """Fail the call, unless it was settled or cancelled before."""
        with suppress(InvalidStateError):
            self.future.set_exception(error)
