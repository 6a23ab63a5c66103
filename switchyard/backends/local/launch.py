"""Start a detached supervisor; the short-lived process that starts it reports whether the command runs."""

import asyncio
import json
import sys
from enum import IntEnum
from pathlib import Path
from typing import Any

import switchyard

_PACKAGES = str(Path(switchyard.__file__).parent.parent)
_PATIENCE = 60.0


class Launched(IntEnum):
    """The launcher's exit code."""

    STARTED = 0
    BROKEN = 1
    ALREADY = 3


async def launch(folder: Path, job: dict[str, Any]) -> Launched:
    """Start a supervisor for the folder. Of any number of calls, exactly one starts the command."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-S", "-m", "switchyard.backends.local.spool.supervisor", str(folder)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
        env={"PYTHONPATH": _PACKAGES},
    )
    try:
        async with asyncio.timeout(_PATIENCE):
            await process.communicate(json.dumps(job).encode())
    except TimeoutError:
        process.kill()
        await process.wait()
    return _meaning(process.returncode)


def _meaning(code: int | None) -> Launched:
    return Launched(code) if code in {0, 3} else Launched.BROKEN
