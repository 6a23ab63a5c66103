"""A real terminal: what people see, at the width that they have."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path


def on_terminal(*arguments: str, cwd: Path, columns: int = 60) -> tuple[int, str]:
    """Exit code and screen of `switchyard …` run on a terminal of this many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SWITCHYARD_")}
    environ = {**kept, "PYTHONPATH": str(Path(__file__).parents[3]), "TERM": "xterm"}
    environ.pop("COLUMNS", None)
    process = subprocess.Popen(
        [sys.executable, "-m", "switchyard", *arguments],
        cwd=cwd,
        env=environ,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    with os.fdopen(ours, "rb", buffering=0) as screen:
        seen = b"".join(iter(lambda: _piece(screen.fileno()), b""))
    return process.wait(timeout=60), seen.decode().replace("\r\n", "\n")


def _piece(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # Linux says EIO where the other side is gone
        return b""
