"""`signalbox run`."""

import asyncio
import os
from pathlib import Path

import uvloop

from signalbox.program import SignalboxProgram
from switchyard.cli.options import ConfigFile
from switchyard.config.config import Config
from switchyard.config.connection import find
from switchyard.config.load import load
from switchyard.process.frame import serve
from switchyard.process.log import configure


def run(config: ConfigFile = None) -> None:
    """Serve the HTTP API and the dashboard until SIGTERM or SIGINT; SIGHUP reads the file again.

    Example: signalbox run -c config/switchyard.yaml
    """
    path = find(config, os.environ)
    loaded = load(path)
    configure(json=loaded.log.json_lines, level=loaded.log.level)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_run(loaded, path))


async def _run(config: Config, path: Path | None) -> None:
    await serve(SignalboxProgram(config), config, path, config.signalbox.health)
