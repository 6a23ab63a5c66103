"""Who uses the server: a shared lock each, which the kernel drops when its holder ends, however it ends."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from switchyard.errors import EmbeddedPostgresError


class Use:
    """One user's hold on the server."""

    def __init__(self, path: Path) -> None:
        self._handle: int | None = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._handle, fcntl.LOCK_SH)  # waits while the server is being stopped

    @contextmanager
    def given_up(self) -> Iterator[bool]:
        """Let go. True: we were the last, and nobody can start to use it while the block lasts."""
        assert self._handle is not None
        try:
            last = _try(self._handle, fcntl.LOCK_EX)
            if not last and not _try(self._handle, fcntl.LOCK_SH):
                # Nobody uses it, and the keeper was quicker than we are: wait until it has ended the server.
                fcntl.flock(self._handle, fcntl.LOCK_SH)
            yield last
        finally:
            os.close(self._handle)
            self._handle = None


def _try(handle: int, kind: int) -> bool:
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        fcntl.flock(handle, fcntl.LOCK_UN)
        return False
    return True


@contextmanager
def alone(path: Path, within: float) -> Iterator[None]:
    """One start at a time; the others wait, and then find it running."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        deadline = time.monotonic() + within
        while not _try(handle, fcntl.LOCK_EX):
            if time.monotonic() > deadline:
                raise EmbeddedPostgresError(
                    f"another process has been starting it for {within:.0f} s; see {path}"
                )
            time.sleep(0.02)
        yield
    finally:
        os.close(handle)
