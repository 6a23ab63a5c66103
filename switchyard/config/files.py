"""Reads files that the configuration names; other kinds, such as pipes, must not hang the program."""

import errno
import os
import stat
from pathlib import Path


def read_regular(path: Path, most: int) -> bytes:
    """Its bytes, at most one more than `most`; OSError also where it is not a regular file."""
    # Opening a pipe waits for a writer, unless it is asked not to.
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        return file.read(most + 1)
