"""`caboose run`."""

import asyncio
import os
from pathlib import Path
from typing import Annotated

import typer

from caboose.program import CabooseProgram
from switchyard.cli.options import ConfigFile
from switchyard.config.config import Config
from switchyard.config.connection import find
from switchyard.config.load import load
from switchyard.execution import Shard
from switchyard.process.frame import serve
from switchyard.process.log import configure

Sources = Annotated[
    list[str] | None,
    typer.Option("--source", help="argo, cirrus, local or sqs; repeatable. By default all configured."),
]
ShardOption = Annotated[str, typer.Option("--shard", metavar="I/N", help="Part I of N, counted from 0.")]


def run(config: ConfigFile = None, source: Sources = None, shard: ShardOption = "0/1") -> None:
    """Run until SIGTERM or SIGINT; SIGHUP, or a change of the file, takes over what it has now.

    Example: caboose run -c config/switchyard.yaml --source argo --shard 0/2
    """
    try:
        share = Shard.parse(shard)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--shard") from None
    path = find(config, os.environ)
    loaded = load(path)
    configure(json=loaded.log.json_lines, level=loaded.log.level)
    asyncio.run(_run(loaded, path, tuple(source or ()), share))


async def _run(config: Config, path: Path | None, kinds: tuple[str, ...], shard: Shard) -> None:
    await serve(CabooseProgram(config, kinds, shard), config, path, config.caboose.health)
