"""Versions of a bundle: one folder each, and a `current` file with the name of one; two are retained.

A version becomes current only after it is complete; readers of an older one keep its files open.
"""

import os
import shutil
from pathlib import Path

CURRENT = "current"
KEPT = 2
BUILDING = ".building-"


def current(home: Path) -> Path | None:
    """The folder of the current version, or None if `home` has no versions."""
    try:
        name = (home / CURRENT).read_text().strip()
    except (OSError, ValueError):
        return None
    return home / name if name and "/" not in name and name != ".." else None


def publish(home: Path, built: Path, version: str) -> Path:
    """Move a finished build into place, make it current, and delete all but the last two versions."""
    folder = home / version
    try:
        built.rename(folder)
    except OSError:
        if not folder.exists():  # otherwise the same content was built before or concurrently
            raise
    previous = current(home)
    draft = home / f".{CURRENT}-{os.getpid()}"
    draft.write_text(version + "\n")
    draft.replace(home / CURRENT)
    _prune(home, keep={folder, previous})
    return folder


def _prune(home: Path, keep: set[Path | None]) -> None:
    """Delete all but the newest two versions, never the current one or the one before it."""
    versions = sorted((p for p in home.iterdir() if (p / "manifest.json").is_file()), key=_age, reverse=True)
    for folder in versions[KEPT:]:
        if folder not in keep:
            shutil.rmtree(folder, ignore_errors=True)


def _age(folder: Path) -> float:
    return (folder / "manifest.json").stat().st_mtime
