"""The worker's settings from a configuration file: its store, its log, its sqs action."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from assessment.work.settings import Settings, read
from switchyard.errors import ConfigError
from switchyard.process import log

if TYPE_CHECKING:
    from switchyard.backends.sqs.model import SqsAction


def settings_of(config: Path | None, environ: Mapping[str, str]) -> Settings:
    """The settings: the environment takes precedence, then the file, then defaults. Also sets up logging."""
    if config is None:
        log.configure()
        return read(environ)
    from switchyard.backends.sqs.model import SqsAction  # noqa: PLC0415
    from switchyard.config.load import load  # noqa: PLC0415 - only where a configuration is given

    loaded = load(config)
    log.configure(json=loaded.log.json_lines, level=loaded.log.level)
    base = Settings(store=loaded.store)
    named = {name: action for name, action in loaded.actions.items() if isinstance(action, SqsAction)}
    action = _chosen(named, environ.get("SQS_QUEUE_NAME"), base.queue)
    if action is not None:
        base = replace(
            base,
            queue=action.queue or base.queue,
            status_queue=action.status_queue,
            status_named=True,
            endpoint=action.endpoint,
            region=action.region or base.region,
        )
    return read(environ, base)


def _chosen(named: "Mapping[str, SqsAction]", queue: str | None, default: str) -> "SqsAction | None":
    """The only sqs action, or of several the one with the queue that the environment names."""
    if len(named) <= 1:
        return next(iter(named.values()), None)
    if not queue:
        listed = ", ".join(f"{name} ({action.queue or default})" for name, action in named.items())
        raise ConfigError(f"several sqs actions, {listed}: choose one with SQS_QUEUE_NAME")
    return next((action for action in named.values() if (action.queue or default) == queue), None)
