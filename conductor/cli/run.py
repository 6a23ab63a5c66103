"""`conductor run` and `conductor once`."""

import asyncio
from typing import Annotated

import typer

from conductor.process import ConductorProcess
from switchyard.cli.options import ConfigFile
from switchyard.config.config import Config
from switchyard.process.frame import Loaded, read, serve
from switchyard.process.signals import handled_in_loop
from switchyard.process.tracing import traced

ActionsOption = Annotated[
    str | None, typer.Option("--actions", help="Serve only these action names, separated by commas.")
]


def run(config: ConfigFile = None, actions: ActionsOption = None) -> None:
    """Serve the configured action names until stopped.

    Example: conductor run -c switchyard.yaml --actions webhook,argo
    """
    asyncio.run(_run(read(config), _names(actions)))


def once(config: ConfigFile = None, actions: ActionsOption = None) -> None:
    """Dispatch what is due now, wait for the outcomes, print how many there were, and exit.

    Example: conductor once -c switchyard.yaml
    """
    asyncio.run(_once(read(config).config, _names(actions)))


def _names(actions: str | None) -> list[str]:
    return [name.strip() for name in (actions or "").split(",") if name.strip()]


async def _run(loaded: Loaded, names: list[str]) -> None:
    await serve(ConductorProcess(loaded.config, names), loaded, loaded.config.conductor.health)


async def _once(config: Config, names: list[str]) -> None:
    process = ConductorProcess(config, names)
    with traced(process.name), handled_in_loop(process.stop):
        await process.once()
    by_status = process.dispatched()
    counts = ", ".join(f"{count} {status}" for status, count in by_status.items())
    print(f"{sum(by_status.values())} dispatched: {counts}" if counts else "Nothing was due.")
