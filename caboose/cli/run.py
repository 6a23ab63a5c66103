"""`caboose run`."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from caboose.process import Caboose
from switchyard.cli.options import ConfigFile
from switchyard.config.config import Config
from switchyard.config.load import load
from switchyard.errors import ConfigError
from switchyard.execution import Shard
from switchyard.process.log import configure, get_logger
from switchyard.process.signals import handled_in_loop
from switchyard.process.tracing import traced

log = get_logger(__name__)

Sources = Annotated[
    list[str] | None,
    typer.Option("--source", help="argo, cirrus, local or sqs; again for more. Without it, all configured."),
]
ShardOption = Annotated[str, typer.Option("--shard", metavar="I/N", help="This caboose's share, I from 0.")]


def run(config: ConfigFile = None, source: Sources = None, shard: ShardOption = "0/1") -> None:
    """Run until SIGTERM or SIGINT; SIGHUP reads the configuration again.

    Example: caboose run -c config/switchyard.yaml --source argo --shard 0/2
    """
    try:
        share = Shard.parse(shard)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--shard") from None
    loaded = load(config)
    configure(json=loaded.log.json_lines, level=loaded.log.level)
    with traced("caboose"):
        asyncio.run(_run(loaded, config, tuple(source or ()), share))


async def _run(config: Config, path: Path | None, kinds: tuple[str, ...], shard: Shard) -> None:
    """Serve; after a reload, serve again with the new configuration."""
    following: Config | None = config
    while following is not None:
        daemon, current = Caboose(following, kinds, shard), following
        following = None

        def reload(daemon: Caboose = daemon, current: Config = current) -> None:
            nonlocal following
            following = _reloaded(path, current)
            if following is not None:
                daemon.stop()

        with handled_in_loop(daemon.stop, reload):
            await daemon.serve()


def _reloaded(path: Path | None, current: Config) -> Config | None:
    """The new configuration; None where it is the same, or cannot be used: then the old one stays."""
    try:
        found = load(path)
    except ConfigError as error:
        log.error("the new configuration is not used", error=str(error))  # noqa: TRY400 - it says all there is
        return None
    log.info("the configuration was read again", changed=found != current)
    return found if found != current else None
