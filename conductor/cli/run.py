"""`conductor run` and `conductor once`."""

import asyncio
import os
from pathlib import Path
from typing import Annotated

import typer

from conductor.process import ConductorProcess
from switchyard.cli.options import ConfigFile
from switchyard.config.config import Config
from switchyard.config.connection import find
from switchyard.config.load import load
from switchyard.process import log
from switchyard.process.frame import serve
from switchyard.process.signals import handled_in_loop
from switchyard.process.tracing import traced

ActionsOption = Annotated[
    str | None, typer.Option("--actions", help="Serve only these action names, separated by commas.")
]


def run(config: ConfigFile = None, actions: ActionsOption = None) -> None:
    """Serve the configured action names until stopped.

    Example: conductor run -c switchyard.yaml --actions webhook,argo
    """
    loaded, path = _loaded(config)
    asyncio.run(_run(loaded, path, _names(actions)))


def once(config: ConfigFile = None, actions: ActionsOption = None) -> None:
    """Dispatch what is due now, wait for the outcomes, print how many there were, and exit.

    Example: conductor once -c switchyard.yaml
    """
    loaded, _ = _loaded(config)
    asyncio.run(_once(loaded, _names(actions)))


def _loaded(config: Path | None) -> tuple[Config, Path | None]:
    path = find(config, os.environ)
    loaded = load(path)
    log.configure(json=loaded.log.json_lines, level=loaded.log.level)
    return loaded, path


def _names(actions: str | None) -> list[str]:
    return [name.strip() for name in (actions or "").split(",") if name.strip()]


async def _run(config: Config, path: Path | None, names: list[str]) -> None:
    await serve(ConductorProcess(config, names), config, path, config.conductor.health)


async def _once(config: Config, names: list[str]) -> None:
    process = ConductorProcess(config, names)
    with traced(process.name), handled_in_loop(process.stop):
        await process.once()
    by_status = process.dispatched()
    counts = ", ".join(f"{count} {status}" for status, count in by_status.items())
    print(f"{sum(by_status.values())} dispatched: {counts}" if counts else "Nothing was due.")
