"""Show progress: a bar on a terminal, else log lines."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from assessment.progress import Progress, silent

EVERY = 1.0
"""Minimum seconds between two lines."""


@contextmanager
def shown(*, quiet: bool) -> Iterator[Progress]:
    """The progress callback of an assessment, valid inside the block."""
    if quiet:
        yield silent
    elif sys.stderr.isatty():
        with _bar() as progress:
            yield progress
    else:
        with _lines() as progress:
            yield progress


@contextmanager
def _bar() -> Iterator[Progress]:
    from rich.console import Console  # noqa: PLC0415 - only a terminal needs it
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415
    from rich.progress import Progress as Bar  # noqa: PLC0415

    columns = (BarColumn(), TaskProgressColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=1.0)
        yield lambda done, step: bar.update(task, completed=done, description=step)


@contextmanager
def _lines() -> Iterator[Progress]:
    """Log lines with the ids of the execution, if there are any."""
    from switchyard.process.log import bound, configure  # noqa: PLC0415 - costs a tenth of a second

    configure()
    ids = {name: os.environ.get(f"SWITCHYARD_{name.upper()}") for name in ("correlation_id", "action_uuid")}
    with bound(**ids):
        yield _line()


def _line() -> Progress:
    """At most one line per second; the first and the last always."""
    from switchyard.process.log import get_logger  # noqa: PLC0415

    log = get_logger("assessment")
    last = -EVERY

    def line(done: float, step: str) -> None:
        nonlocal last
        now = time.monotonic()
        if done >= 1.0 or now - last >= EVERY:
            last = now
            log.info("progress", progress=round(done, 3), step=step)

    return line
