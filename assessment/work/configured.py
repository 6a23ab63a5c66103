"""The worker's settings where there is a configuration file: its store, its log, its one sqs action."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from assessment.work.settings import Settings, read
from switchyard.runtime import log


def settings_of(config: Path | None, environ: Mapping[str, str]) -> Settings:
    """The environment comes first, then the file, then the defaults; logging is set up on the way."""
    if config is None:
        log.configure()
        return read(environ)
    from switchyard.config import load  # noqa: PLC0415 - only where a configuration is given
    from switchyard.config.actions.sqs import SqsAction  # noqa: PLC0415

    loaded = load(config)
    log.configure(json=loaded.log.json_lines, level=loaded.log.level)
    base = Settings(store=loaded.store)
    queues = [action for action in loaded.actions.values() if isinstance(action, SqsAction)]
    if len(queues) == 1:
        (action,) = queues
        base = replace(
            base,
            queue=action.queue or base.queue,
            status_queue=action.status_queue,
            status_named=True,
            endpoint=action.endpoint,
            region=action.region or base.region,
        )
    return read(environ, base)
