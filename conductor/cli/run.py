"""`conductor run` and `conductor once`."""

import asyncio
import os
from pathlib import Path
from typing import Annotated

import typer

from conductor.process import ConductorProcess
from switchyard.cli.options import ConfigFile
from switchyard.config.load import find, load
from switchyard.process import log
from switchyard.process.signals import handled_in_loop
from switchyard.process.tracing import traced

ActionsOption = Annotated[
    str | None, typer.Option("--actions", help="Serve only these action names, separated by commas.")
]


def run(config: ConfigFile = None, actions: ActionsOption = None) -> None:
    """Serve the configured action names until stopped.

    Example: conductor run -c switchyard.yaml --actions webhook,argo
    """
    asyncio.run(_run(_process(config, actions)))


def once(config: ConfigFile = None, actions: ActionsOption = None) -> None:
    """Dispatch what is due now, wait for its outcomes, and exit.

    Example: conductor once -c switchyard.yaml
    """
    asyncio.run(_once(_process(config, actions)))


def _process(config: Path | None, actions: str | None) -> ConductorProcess:
    path = find(config, os.environ)
    loaded = load(path)
    log.configure(json=loaded.log.json_lines, level=loaded.log.level)
    names = [name.strip() for name in (actions or "").split(",") if name.strip()]
    return ConductorProcess(loaded, path, names)


async def _run(process: ConductorProcess) -> None:
    with traced("conductor"), handled_in_loop(process.stop, process.reload):
        await process.run()


async def _once(process: ConductorProcess) -> None:
    with traced("conductor"), handled_in_loop(process.stop):
        await process.once()
