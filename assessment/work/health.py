"""The health server: a separate process that answers even if the worker computes, hangs or fails.

Forked before the worker has threads or connections. It ignores signals and ends when the worker ends for any
reason: the worker holds one end of a pipe, which the kernel then closes.
"""

import errno
import multiprocessing
import os
import signal
import socket
import threading
import time
from types import TracebackType
from typing import Self

from assessment.work.settings import Settings
from assessment.work.state import State
from assessment.work.verdict import Limits
from switchyard.errors import AddressInUse, ConfigError
from switchyard.process.log import get_logger

THREADS = 4
STARTING = 60.0

log = get_logger(__name__)


class HealthProcess:
    """Runs the server inside a `with` block; `port` is the port in use."""

    _child: multiprocessing.process.BaseProcess
    _lifeline: int

    def __init__(self, settings: Settings, state: State, service: str) -> None:
        self._settings, self._state, self._service = settings, state, service
        self.port = settings.health_port

    def __enter__(self) -> Self:
        listener = _bound(self._settings.health_host, self._settings.health_port)
        self.port = listener.getsockname()[1]
        ours, self._lifeline = os.pipe()
        limits = Limits(self._settings.heartbeat_timeout, self._settings.task_buffer)
        arguments = (listener, self._state, limits, self._service, (ours, self._lifeline))
        self._child = multiprocessing.get_context("fork").Process(
            target=_serve, args=arguments, name="health", daemon=True
        )
        self._child.start()
        listener.close()
        os.close(ours)
        self._await()
        log.info("health server listens", host=self._settings.health_host, port=self.port)
        return self

    def _await(self) -> None:
        """Wait until the server listens, so that no job starts before health checks are answered."""
        until = time.monotonic() + STARTING
        while not self._state.health_listens:
            if not self._child.is_alive() or time.monotonic() > until:
                raise ConfigError("the health server did not start")
            time.sleep(0.01)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._lifeline)
        self._child.join(2)
        self._child.kill()
        self._child.join()


def _bound(host: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as failure:
        listener.close()
        where = f"the health server cannot listen on {host}:{port}"
        if failure.errno == errno.EADDRINUSE:
            raise AddressInUse(f"{where}: another process has this port; set PORT to another") from failure
        raise ConfigError(f"{where}: {failure.strerror}") from failure
    return listener


def _serve(
    listener: socket.socket, state: State, limits: Limits, service: str, pipe: tuple[int, int]
) -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    lifeline, workers_end = pipe
    os.close(workers_end)  # otherwise our own copy would keep the pipe open
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()
    from waitress import create_server  # noqa: PLC0415 - not needed by the worker itself

    from assessment.work.answers import answers  # noqa: PLC0415

    app = answers(state, limits, service, time.monotonic)
    server = create_server(app, sockets=[listener], threads=THREADS, ident="")
    state.health_listens = 1
    server.run()


def _end_with(lifeline: int) -> None:
    os.read(lifeline, 1)  # nothing is ever written: this returns when the worker has ended
    os._exit(0)
