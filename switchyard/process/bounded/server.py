"""The parent's side of the server that forks children, and of one child."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from switchyard.process.bounded.child import END, FORK, PID, REPLY, receive

# The children evaluate what strangers wrote: they get no variable that could hold a secret.
_ENVIRONMENT = ("HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PATH", "TMPDIR", "TZ")
_ANSWERS_WITHIN = 120.0  # the imports of the first start included, on a busy machine
_MAIN = (
    "import sys; sys.path[:] = {path!r}; "
    "from switchyard.process.bounded.child import main; main({handle}, {parent}, {modules!r})"
)


class ChildDiedError(Exception):
    """The child ended: by a limit, or by a signal that we did not send."""

    def __init__(self, limit: str | None, number: int) -> None:
        super().__init__(limit, number)
        self.limit, self.signal = limit, number


class Reply(NamedTuple):
    """A child's reply."""

    kind: int
    leaving: bool
    value: Any


class Server:
    """The server: started when the first child is needed, restarted if it was killed."""

    def __init__(self, modules: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        """`environment`: variables for the imports of `modules`, besides the few that are passed on."""
        self._modules, self._environment = list(modules), dict(environment or {})
        self._running: _Process | None = None
        self._lock = threading.Lock()

    def start(self) -> None:
        """Start the imports now, so that the first child need not wait for all of them."""
        with self._lock:
            if self._running is None or self._running.broken:
                self._end()
                self._running = _Process(self._modules, self._environment)

    def fork(self) -> "Child":
        """Fork a child. Call it only from a thread that lives as long as the server may be needed."""
        try:
            return self._forked()
        except ConnectionError:  # the server was killed, and this was the first to notice: start another
            return self._forked()

    def _forked(self) -> "Child":
        self.start()
        server = self._running
        if server is None:
            raise ConnectionError("the server of evaluating processes was closed")
        ours, theirs = socket.socketpair()
        try:
            return Child(server.ask(FORK + PID.pack(0), theirs.fileno()), ours, server)
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()

    def close(self) -> None:
        """End the server and thereby every child."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        if self._running is not None:
            self._running.end()
            self._running = None


class _Process:
    """One run of the server."""

    def __init__(self, modules: list[str], environment: Mapping[str, str]) -> None:
        self.broken = False
        self._control, theirs = socket.socketpair()
        self._control.settimeout(_ANSWERS_WITHIN)
        self._lock = threading.Lock()
        path = [str(Path(entry).absolute()) for entry in sys.path]
        main = _MAIN.format(path=path, handle=theirs.fileno(), parent=os.getpid(), modules=modules)
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - ourselves
                [sys.executable, "-I", "-c", main],
                pass_fds=[theirs.fileno()],
                env={
                    **{name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
                    **environment,
                },
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                cwd="/",
            )

    def ask(self, command: bytes, handle: int | None = None) -> int:
        """Send a request to the server; returns the number that it replies."""
        try:
            with self._lock:
                socket.send_fds(self._control, [command], [] if handle is None else [handle])
                number: int = PID.unpack(receive(self._control, PID.size))[0]
        except (OSError, EOFError) as error:
            self.broken = True
            raise ConnectionError("the server of evaluating processes ended") from error
        return number

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._control.close()


class Child:
    """One child; used by one thread, interrupted by any."""

    def __init__(self, pid: int, connection: socket.socket, server: _Process) -> None:
        self.pid = pid
        self._connection, self._server = connection, server
        self._ended_by: int | None = None

    def ask(self, request: bytes, within: float, longest: int) -> Reply:
        """Send a request and return the reply; without one the child is ended and ChildDiedError raised."""
        return self.send(request, within).reply(within, longest)

    def send(self, request: bytes, within: float) -> "Child":
        """Send a request; call `reply` later for the result."""
        try:
            self._connection.settimeout(within)
            self._connection.sendall(request)
        except OSError:
            raise ChildDiedError(None, self.end()) from None
        return self

    def reply(self, within: float, longest: int) -> Reply:
        """The reply to the request that was sent."""
        deadline = time.monotonic() + within
        try:
            header = receive(self._connection, REPLY.size, deadline)
            length, kind, leaving = REPLY.unpack(header)
            body = receive(self._connection, min(length, longest), deadline)
            return Reply(kind, bool(leaving), json.loads(body))
        except TimeoutError:
            self.end()
            raise ChildDiedError("elapsed time", signal.SIGKILL) from None
        except RecursionError:
            self.end()
            raise ChildDiedError("depth", 0) from None
        except (OSError, EOFError, ValueError):
            number = self.end()
            raise ChildDiedError("CPU time" if number == signal.SIGPROF else None, number) from None

    def interrupt(self) -> None:
        """Make `ask` return now."""
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)

    def end(self) -> int:
        """Kill it; returns the signal that ended it. Call it only once: its pid may be reused."""
        if self._ended_by is None:
            self._connection.close()
            try:
                self._ended_by = self._server.ask(END + PID.pack(self.pid))
            except ConnectionError:
                self._ended_by = signal.SIGKILL  # it died with the server
        return self._ended_by
