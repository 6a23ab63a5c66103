"""What a process says, kept in a file of bounded size: the beginning and the end, without the middle."""

import os
from pathlib import Path

TAIL = 64 * 1024


class Capture:
    """Writes up to `limit` bytes; of what follows, the last 64 KiB are added when it closes."""

    def __init__(self, path: Path, limit: int) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        self._room = limit
        self._tail = bytearray()
        self._left_out = 0

    def write(self, data: bytes) -> None:
        """Take what came; a full disk loses text, never the process."""
        head, rest = data[: self._room], data[self._room :]
        if head:
            self._put(head)
            self._room -= len(head)
        if rest:
            self._tail += rest
            excess = max(0, len(self._tail) - TAIL)
            self._left_out += excess
            del self._tail[:excess]

    def close(self) -> None:
        """Add the tail, and say how much is missing."""
        if self._left_out:
            self._put(f"\n[... {self._left_out} bytes left out ...]\n".encode())
        self._put(bytes(self._tail))
        os.close(self._file)

    def _put(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError:
            self._room = 0
            self._left_out += len(data)
