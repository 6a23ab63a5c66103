"""A wall clock that a test sets: a small library, preloaded into a spawned program, moves what libc tells it.

All that runs in the process sees the jump (Python, libpq, TLS), while the machine's clock stays.
"""

import hashlib
import shutil
import struct
from pathlib import Path

from tests.parts import guardian
from tests.parts.cache import cached, run, tool

SOURCE = Path(__file__).parent / "clock" / "shift.c"


class Clock:
    """One program's clock: start it with `.environ`, then `.shift(seconds)` whenever you like; 0 puts it right."""

    def __init__(self) -> None:
        self._folder = guardian.scratch("clock")
        self._folder.chmod(0o755)  # a server may run as another user, who cannot read the cache
        self._file = self._folder / "seconds"
        self._file.write_bytes(struct.pack("q", 0))
        preloaded = shutil.copy(library() / "shift.so", self._folder)
        self.environ = {"LD_PRELOAD": str(preloaded), "SHIFTED_CLOCK": str(self._file)}

    def shift(self, seconds: int) -> None:
        """From now on it is off by this many seconds."""
        with self._file.open("r+b", buffering=0) as file:  # in place: the programs have it mapped
            file.write(struct.pack("q", seconds))

    def close(self) -> None:
        guardian.discard(self._folder)


def library() -> Path:
    """The folder of the built library, shift.so."""
    return cached(f"clock-{hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:12]}", _build)


def _build(into: Path) -> None:
    run([tool("cc"), "-O2", "-shared", "-fPIC", "-o", into / "shift.so", SOURCE, "-ldl"], cwd=into)
