"""`signalbox run`."""

import asyncio

import uvloop

from signalbox.program import SignalboxProgram
from switchyard.cli.options import ConfigFile
from switchyard.process.frame import Loaded, read, serve


def run(config: ConfigFile = None) -> None:
    """Serve the HTTP API and the dashboard until SIGTERM or SIGINT; SIGHUP reloads the configuration.

    Example: signalbox run -c config/switchyard.yaml
    """
    loaded = read(config)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_run(loaded))


async def _run(loaded: Loaded) -> None:
    await serve(SignalboxProgram(loaded.config), loaded, loaded.config.signalbox.health)
