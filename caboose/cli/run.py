"""`caboose run`."""

import asyncio
from typing import Annotated

import typer

from caboose.program import CabooseProgram
from switchyard.cli.options import ConfigFile
from switchyard.execution import Shard
from switchyard.process.frame import Loaded, read, serve

Sources = Annotated[
    list[str] | None,
    typer.Option("--source", help="argo, cirrus, local or sqs; repeatable. By default all configured."),
]
ShardOption = Annotated[str, typer.Option("--shard", metavar="I/N", help="Part I of N, counted from 0.")]


def run(config: ConfigFile = None, source: Sources = None, shard: ShardOption = "0/1") -> None:
    """Run until SIGTERM or SIGINT; SIGHUP, or a change of the configuration file, reloads it.

    Example: caboose run -c config/switchyard.yaml --source argo --shard 0/2
    """
    try:
        share = Shard.parse(shard)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--shard") from None
    asyncio.run(_run(read(config), tuple(source or ()), share))


async def _run(loaded: Loaded, kinds: tuple[str, ...], shard: Shard) -> None:
    await serve(CabooseProgram(loaded.config, kinds, shard), loaded, loaded.config.caboose.health)
