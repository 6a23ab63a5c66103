"""Translates errors of the operating system about files."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

from switchyard.errors import StoreError, StoreMissing, StoreUnavailable

_MISSING = {errno.ENOENT, errno.ENOTDIR}
# May be over in a while, by itself or because somebody makes room; all others need a change first.
_PASSING = {
    errno.EAGAIN,
    errno.EBUSY,
    errno.EDQUOT,
    errno.EINTR,
    errno.EIO,
    errno.EMFILE,
    errno.ENFILE,
    errno.ENOBUFS,
    errno.ENOMEM,
    errno.ENOSPC,
    errno.ESTALE,
    errno.ETIMEDOUT,
}
_ADVICE = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the file system is read-only",
    errno.EACCES: f"no permission (we run as user {os.geteuid()})",
    errno.EPERM: "not permitted; if the file system has no hard links, write-once needs another one",
    errno.EOPNOTSUPP: "the file system cannot do it; write-once needs hard links",
    errno.EISDIR: "there are objects below this key, so it cannot be one itself",
    errno.ENOTDIR: "a part of the key is an object or a symbolic link already, and no folder",
    errno.ENOTEMPTY: "there are objects below this key, so it cannot be one itself",
    errno.ELOOP: "a symbolic link is in the way; none is followed inside a store",
    errno.EMFILE: "too many files are open in this process",
    errno.EIO: "the disk reports an error",
}


@contextmanager
def explained(doing: str, url: str) -> Iterator[None]:
    """Turn an OSError inside into the StoreError that it means."""
    try:
        yield
    except OSError as error:
        number = error.errno or 0
        if number in _MISSING and doing != "write":
            raise StoreMissing(f"there is no object {url}") from error
        kind = StoreUnavailable if number in _PASSING else StoreError
        raise kind(f"cannot {doing} {url}: {_ADVICE.get(number) or os.strerror(number)}") from error
