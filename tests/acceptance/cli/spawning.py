"""Running the `switchyard` command as people do, in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

COMMAND = (sys.executable, "-m", "switchyard")


def switchyard(*arguments: str, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """The finished process; nothing of our own environment but what it takes to start."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    root = str(Path(__file__).parents[3])
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=cwd,
        env={**kept, "PYTHONPATH": root, **environ},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
