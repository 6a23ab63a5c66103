"""Makes up.svg from a real run: `switchyard up --once` on a terminal, its busiest frame drawn by rich.

python docs/images/screen.py
"""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

from rich.console import Console
from rich.text import Text

COLUMNS, LINES = 96, 40
# How a live screen goes back to its first line before it is drawn again.
AGAIN = re.compile(r"\r?\x1b\[2K(?:\x1b\[1A\x1b\[2K)+")


def screen(folder: str) -> str:
    """Everything that was written to the terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    words = [sys.executable, "-m", "switchyard", "up", "--once", "--folder", folder]
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(COLUMNS), "LINES": str(LINES)}
    running = subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)  # noqa: S603
    os.close(theirs)
    seen = b""
    while piece := _read(ours):
        seen += piece
    if running.wait() != 0:
        raise SystemExit(seen.decode())
    return seen.decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # how Linux says that the other end is closed
        return b""


def busiest(frames: list[str]) -> Text:
    """The one with the most different statuses, and of those the longest."""

    def busy(text: Text) -> tuple[int, int]:
        return len(set(re.findall(r"\b[A-Z]{6,}\b", text.plain))), len(text.plain.splitlines())

    return max(map(Text.from_ansi, frames), key=busy)


def main() -> None:
    """Run, pick, draw."""
    with tempfile.TemporaryDirectory(prefix="switchyard-") as folder:
        frames = AGAIN.split(screen(folder))
    drawn = Console(record=True, width=COLUMNS, file=Path(os.devnull).open("w"))  # noqa: SIM115 - nobody reads it
    drawn.print(busiest(frames[1:]))
    drawn.save_svg(str(Path(__file__).with_name("up.svg")), title="switchyard up")


if __name__ == "__main__":
    main()
