"""Starts and stops the programs, each with its own log; none outlives us."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from switchyard.errors import AddressInUse, SwitchyardError
from switchyard.process.linux import adopt_orphans
from switchyard.up import orphans


class Programs:
    """Started one by one, stopped together; one that ends by itself is reported with the end of its log."""

    def __init__(self, logs: Path, environment: Mapping[str, str]) -> None:
        self._logs = logs
        self._environment = {**os.environ, **environment}
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        adopt_orphans()

    def start(self, name: str, words: Sequence[str]) -> None:
        """Start `python -m words`."""
        with (self._logs / f"{name}.log").open("ab") as log:
            self._running[name] = subprocess.Popen(  # noqa: S603 - our own programs
                [sys.executable, "-m", "switchyard.up.bound", str(os.getpid()), *words],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def check(self) -> None:
        """Raise if one has ended."""
        orphans.running(self._known)
        for name, process in self._running.items():
            if process.poll() is not None:
                raise SwitchyardError(
                    f"{name} ended with exit code {process.returncode}:\n{self._tail(name)}"
                )

    def stop(self, grace: float = 35.0) -> None:
        """SIGTERM to all, and to the workflows they run; then wait; SIGKILL for those that do not end."""
        for process in reversed(self._running.values()):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        orphans.tell(self._known)
        for process in self._running.values():
            try:
                process.wait(grace)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        orphans.end(self._known, grace)
        self._running.clear()

    @property
    def _known(self) -> set[int]:
        return {process.pid for process in self._running.values()}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _tail(self, name: str) -> str:
        lines = (self._logs / f"{name}.log").read_text(errors="replace").splitlines()
        return "\n".join(f"  {line}" for line in lines[-8:]) + f"\n  (all of it: {self._logs / name}.log)"


def refuse_used_port(port: int) -> None:
    """Raise AddressInUse if another process listens there."""
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError as error:
        raise AddressInUse(f"port {port} on 127.0.0.1 is in use: choose another with --port") from error
