"""The way down from a store's root, by directory handles that follow no symbolic link."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


@contextlib.contextmanager
def entered(root: Path, key: str, *, create: bool) -> Iterator[tuple[int, str]]:
    """The open folder of the key, created if `create` is true, and the name in it."""
    *parts, name = key.split("/")
    if create:
        _make_root(root)
    folder = os.open(root, _FOLDER)  # the root itself may be a link: who configured it wanted that
    try:
        for part in parts:
            inner = _enter(folder, part, create=create)
            os.close(folder)
            folder = inner
        yield folder, name
    finally:
        os.close(folder)


def _enter(folder: int, part: str, *, create: bool) -> int:
    try:
        return os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
    except FileNotFoundError:
        if not create:
            raise
    with contextlib.suppress(FileExistsError):
        os.mkdir(part, dir_fd=folder)
    os.fsync(folder)
    return os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)


def _make_root(root: Path) -> None:
    """Make the root and what is above it, durably: a new name lives in its parent."""
    if root.is_dir():
        return
    _make_root(root.parent)
    root.mkdir(exist_ok=True)
    parent = os.open(root.parent, _FOLDER)
    try:
        os.fsync(parent)
    finally:
        os.close(parent)
