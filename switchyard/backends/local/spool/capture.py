"""The output of a process in a file of limited size: the beginning and the end, without the middle.

Secrets that were passed to the process are masked before anything is written.
"""

import os
from collections.abc import Iterable
from pathlib import Path

TAIL = 64 * 1024
MASK = b"[redacted]"


class Capture:
    """Writes up to `limit` bytes; of the rest, the last 64 KiB are added when it closes."""

    def __init__(self, path: Path, limit: int, secrets: Iterable[bytes] = ()) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
        self._file = os.open(path, flags, 0o600)
        self._room = limit
        self._tail = bytearray()
        self._left_out = 0
        # Longest first: of a secret that contains another one, no part may remain visible.
        self._secrets = sorted(set(secrets), key=len, reverse=True)
        self._begun = b""  # the end of the data, if it may be the beginning of a secret

    def write(self, data: bytes) -> None:
        """Process output data; if the disk is full, output is lost but the process continues."""
        self._take(self._masked(data))

    def close(self) -> None:
        """Write the end of the output, and a note about the omitted size."""
        self._take(self._begun)
        if self._left_out:
            self._put(f"\n[... {self._left_out} bytes left out ...]\n".encode())
        self._put(bytes(self._tail))
        os.close(self._file)

    def _masked(self, data: bytes) -> bytes:
        if not self._secrets:
            return data
        data = self._begun + data
        for secret in self._secrets:
            data = data.replace(secret, MASK)
        size = max(_overlap(data, secret) for secret in self._secrets)
        self._begun = data[len(data) - size :]
        return data[: len(data) - size]

    def _take(self, data: bytes) -> None:
        head, rest = data[: self._room], data[self._room :]
        if head:
            self._put(head)
            self._room -= len(head)
        if rest:
            self._tail += rest
            excess = max(0, len(self._tail) - TAIL)
            self._left_out += excess
            del self._tail[:excess]

    def _put(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError:
            self._room = 0
            self._left_out += len(data)


def _overlap(data: bytes, secret: bytes) -> int:
    """The number of bytes at the end of the data that may begin the secret."""
    for size in range(min(len(secret) - 1, len(data)), 0, -1):
        if data.endswith(secret[:size]):
            return size
    return 0
