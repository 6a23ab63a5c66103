"""`conductor run` and `conductor once`."""

import asyncio
import os
from pathlib import Path
from typing import Annotated

import typer

from conductor.engine import Engine
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
    asyncio.run(_run(_engine(config, actions)))


def once(config: ConfigFile = None, actions: ActionsOption = None) -> None:
    """Dispatch what is due now, wait for its outcomes, and exit.

    Example: conductor once -c switchyard.yaml
    """
    asyncio.run(_once(_engine(config, actions)))


def _engine(config: Path | None, actions: str | None) -> Engine:
    path = find(config, os.environ)
    loaded = load(path)
    log.configure(json=loaded.log.json_lines, level=loaded.log.level)
    names = [name.strip() for name in (actions or "").split(",") if name.strip()]
    return Engine(loaded, path, names)


async def _run(engine: Engine) -> None:
    with traced("conductor"), handled_in_loop(engine.stop, engine.reload):
        await engine.run()


async def _once(engine: Engine) -> None:
    with traced("conductor"), handled_in_loop(engine.stop):
        await engine.once()
