"""The frame of a program: signals, health, metrics, tracing, the watchdog and the configuration file.

The program itself only runs, stops, applies a new configuration and reports its health. SIGTERM and SIGINT
stop it, SIGHUP and a changed file reload the configuration; a configuration that it cannot use leaves the
last good one in effect and is reported by /readyz. An exception from `run` decides the exit code, by its
type (errors.py).
"""

import asyncio
import os
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import NamedTuple, Protocol

from switchyard.config.config import Config
from switchyard.config.connection import find
from switchyard.config.daemons import Health
from switchyard.config.load import load
from switchyard.process.health import HealthServer, Ready
from switchyard.process.log import configure, get_logger
from switchyard.process.loop import Runner
from switchyard.process.metrics import Metrics
from switchyard.process.reload import Reload, State, state_of
from switchyard.process.signals import handled_in_loop
from switchyard.process.tracing import traced
from switchyard.process.watchdog import watched

log = get_logger(__name__)


class Loaded(NamedTuple):
    """A configuration, its file if there is one, and the file's state before it was read."""

    config: Config
    path: Path | None
    seen: State


def read(file: Path | None) -> Loaded:
    """Read the configuration at the start of a program, and set up its logging."""
    path = find(file, os.environ)
    seen = state_of(path)
    config = load(path)
    configure(json=config.log.json_lines, level=config.log.level)
    return Loaded(config, path, seen)


class Program(Protocol):
    """The interface of a program that the frame runs."""

    name: str
    made: Metrics  # where its metrics were made

    async def run(self) -> None:
        """Run until `stop`; raises fatal errors."""

    def stop(self) -> None:
        """Start an orderly stop."""

    async def apply(self, config: Config) -> None:
        """Apply a new configuration; after a SwitchyardError the present one stays in effect."""

    def alive(self) -> bool:
        """Whether no part has ended or stalled."""

    async def ready(self) -> Mapping[str, bool | str]:
        """The program's own readiness checks."""


async def serve(program: Program, loaded: Loaded, health: Health) -> None:
    """Run the program until it is stopped, and watch its configuration file."""
    reload = Reload(loaded.path, loaded.config, program.apply, loaded.seen)
    watching = Runner(reload)

    def read_again() -> None:
        reload.ask()
        watching.wake()

    async def ready() -> Mapping[str, bool | str]:
        return {**await program.ready(), "configuration": reload.problem or True}

    server = _server(program, health, ready)
    with traced(program.name), handled_in_loop(program.stop, read_again), watched(program.made):
        async with server:
            task = asyncio.create_task(watching.run())
            try:
                await program.run()
            finally:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)


def _server(program: Program, health: Health, ready: Ready) -> AbstractAsyncContextManager[object]:
    if health.port is None:
        return nullcontext()
    return HealthServer(program.name, health.host, health.port, program.alive, ready, program.made.registry)
