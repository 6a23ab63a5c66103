"""Handlers that record when they are entered, registered by entry point as a package would.

At the conductor's end they write what they noted, as JSON, to the file that `BENCH_NOTES` names.
"""

import asyncio
import json
import os
import time
from pathlib import Path
from typing import Any

from switchyard.backends.plugin import Backend
from switchyard.handlers import Batch, HandlerContext, Outcome, Success, Work

ENTRY_POINTS = """\
[switchyard.backends]
noting = benchmarks.latency.noting:noting
noting_batches = benchmarks.latency.noting:noting_batches
noting_sleep = benchmarks.latency.noting:noting_sleep
"""
METADATA = "Metadata-Version: 2.1\nName: noting\nVersion: 1\n"
NOTES = "BENCH_NOTES"


def installed(folder: Path) -> None:
    """Make the folder, once on the path, a place where this package is installed."""
    told = folder / "noting-1.dist-info"
    told.mkdir()
    (told / "METADATA").write_text(METADATA)
    (told / "entry_points.txt").write_text(ENTRY_POINTS)


class Noting:
    """Dispatches one at a time, as most handlers do."""

    def __init__(self, _name: str, _action: Any, _context: HandlerContext) -> None:
        self._entered: dict[str, float] = {}

    async def start(self) -> None:
        """Nothing to open."""

    async def dispatch(self, work: Work, /) -> Outcome:
        """Success, at once."""
        now = time.monotonic()
        self._entered[str(work.uuid)] = now
        return Success()

    async def close(self) -> None:
        """Report when each arrived."""
        self._tell(Path(os.environ[NOTES]))

    def _tell(self, file: Path) -> None:
        file.write_text(json.dumps(self._entered))


class NotingSleep(Noting):
    """Takes as long as a quick webhook, or as its parameters say."""

    async def dispatch(self, work: Work, /) -> Outcome:
        """Success, after that time."""
        outcome = await super().dispatch(work)
        await asyncio.sleep(work.parameters.get("seconds", 0.02))
        return outcome


class NotingBatches(Noting):
    """Dispatches what was claimed together in one call, as noop does."""

    def dispatch_all(self, batch: Batch, /) -> Outcome:
        """Success, for all of them."""
        now = time.monotonic()
        self._entered |= dict.fromkeys(map(str, batch.uuids), now)
        return Success()


noting = Backend("noting", Noting)
noting_batches = Backend("noting_batches", NotingBatches)
noting_sleep = Backend("noting_sleep", NotingSleep)
