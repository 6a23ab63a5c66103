"""One spawned program of ours: its own way to the database, its own clock, and somebody who starts it again."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from switchyard.process.exit import Exit
from tests.parts.clock import Clock
from tests.parts.process import Process
from tests.parts.proxy import Proxy

PATIENCE = 30.0
AGAIN = 0.5  # a service manager does not start faster than this either


class Program:
    """A daemon as it is deployed: whatever ends it, it is started again."""

    def __init__(
        self,
        name: str,
        argv: Sequence[str | Path],
        environ: Mapping[str, str],
        clock: Clock | None,
        network: Proxy | None = None,
    ) -> None:
        self.name = name
        self.clock, self.network = clock, network
        given = {"PATH": "/usr/bin:/bin", **environ, **(clock.environ if clock else {})}
        self.process = Process(name, argv, env=given)
        self.frozen = False
        self.strange_ends: list[str] = []
        self._started = 0.0

    def start(self) -> None:
        self._started = time.monotonic()
        self.process.start()

    def tend(self, *, misconfigured: bool = False) -> None:
        """Start it again where it ended by itself; only that something was away, or the file wrong, is a reason to."""
        if self.process.running() or time.monotonic() - self._started < AGAIN:
            return
        code = self.process.exit_code
        if code not in {None, Exit.TRANSIENT} and not (misconfigured and code == Exit.CONFIG):
            last = self.process.log.read_text()[-800:]
            self.strange_ends.append(f"{self.name} ended by itself with {code}: {last}")
        self.start()

    def kill(self) -> None:
        """SIGKILL to it alone."""
        self.process.behead()
        self._replaced()

    def kill_family(self) -> None:
        """SIGKILL to it and what it is just starting, as a power cut would."""
        self.process.kill()
        self._replaced()

    def freeze(self) -> None:
        self.frozen = True
        self.process.pause()

    def thaw(self) -> None:
        if self.frozen and self.process.running():
            self.process.resume()
        self.frozen = False

    def stop(self) -> int | None:
        """SIGTERM; its exit code."""
        self.thaw()
        return self.process.stop(seconds=PATIENCE)

    def _replaced(self) -> None:
        self.frozen = False
        self.start()
