"""The executions in a spool: names, creation and removal of their folders."""

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from switchyard.backends.local.spool.record import flush
from switchyard.execution import parse_name

GONE = ".gone-"


@dataclass(frozen=True, slots=True)
class Execution:
    """A folder of the spool whose name is that of an execution."""

    uuid: UUID
    run: int
    path: Path


def executions(root: Path) -> Iterator[Execution]:
    """Every execution in the spool, in arbitrary order."""
    with os.scandir(root) as entries:
        for entry in entries:
            found = parse_name(entry.name)
            if found and entry.is_dir(follow_symlinks=False):
                yield Execution(*found, Path(entry.path))


def make(root: Path, name: str) -> Path:
    """Create the folder of that name if missing; its parent is flushed, so that it survives a crash."""
    path = root / name
    with suppress(FileExistsError):
        path.mkdir(mode=0o700)
        flush(root)
    return path


def remove(path: Path) -> None:
    """Remove the folder atomically, so that a partial removal never looks like an execution."""
    gone = path.with_name(GONE + path.name)
    with suppress(FileNotFoundError):
        if gone.exists():
            shutil.rmtree(gone)
        path.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)


def sweep(root: Path) -> None:
    """Finish removals that were interrupted."""
    for path in root.glob(GONE + "*"):
        shutil.rmtree(path, ignore_errors=True)
