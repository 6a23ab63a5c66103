"""Nothing outlives the tests: a small process that ends what they started if they are killed themselves.

It reads lines from a pipe that only the test process holds open: `+ pid 12`, `- pid 12`, and so for folders,
mounts and containers. When the pipe ends, however the tests ended, whatever is still on its list is stopped
(SIGTERM, and SIGKILL for what stays) or removed.
"""

import contextlib
import functools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

PATIENCE = 5.0
MEMORY = Path("/dev/shm")
ROOM = 4 << 30


@functools.cache
def _pipe() -> IO[str]:
    child = subprocess.Popen(
        [sys.executable, "-S", __file__], stdin=subprocess.PIPE, text=True, bufsize=1, start_new_session=True
    )
    child.returncode = 0  # it ends after us, so nobody waits for it, and Popen need not warn
    assert child.stdin is not None
    return child.stdin


def close() -> None:
    """All is over: whatever was not released goes now."""
    if _pipe.cache_info().currsize:
        _pipe().close()
        _pipe.cache_clear()


def watch(kind: str, name: object) -> None:
    """From now on `name` (a pid, a folder, a mount or a container) goes when the tests go."""
    _pipe().write(f"+ {kind} {name}\n")


def release(kind: str, name: object) -> None:
    """It has ended in order."""
    _pipe().write(f"- {kind} {name}\n")


def scratch(name: str, *, memory: bool = False) -> Path:
    """A new temporary folder that any user may enter, in memory where that can be; `discard` it in the end."""
    base = MEMORY if memory and _roomy(MEMORY) else None
    folder = Path(tempfile.mkdtemp(prefix=f"switchyard-{name}-", dir=base))
    folder.chmod(0o755)
    watch("folder", folder)
    return folder


def _roomy(folder: Path) -> bool:
    return os.access(folder, os.W_OK) and shutil.disk_usage(folder).free > ROOM


def discard(folder: Path) -> None:
    shutil.rmtree(folder)
    release("folder", folder)


def _left(lines: Iterator[str]) -> list[tuple[str, str]]:
    """What the lines added and did not take away, youngest first."""
    left: dict[tuple[str, str], None] = {}
    for line in lines:
        sign, kind, name = line.rstrip("\n").split(" ", 2)
        if sign == "+":
            left[kind, name] = None
        else:
            left.pop((kind, name), None)
    return list(reversed(left))


def _end(pid: int) -> None:
    deadline = time.monotonic() + PATIENCE
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)
        os.kill(pid, signal.SIGTERM)
        while time.monotonic() < deadline:
            os.kill(pid, 0)
            time.sleep(0.05)
        os.kill(pid, signal.SIGKILL)


def main() -> None:
    for kind, name in _left(iter(sys.stdin)):
        if kind == "pid":
            _end(int(name))
        elif kind == "container":
            subprocess.run(["docker", "rm", "--force", "--volumes", name], check=False, capture_output=True)
        elif kind == "mount":
            subprocess.run(["umount", "--lazy", name], check=False, capture_output=True)
        else:
            shutil.rmtree(name, ignore_errors=True)


if __name__ == "__main__":
    main()
