"""Parts that are downloaded or built once, outside the checkout, keyed by version."""

import fcntl
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

# Tests use the parts that are there; building the others takes longer than all tests together.
build_missing = True


class UnavailableError(Exception):
    """The part is not available on this machine; the text gives the reason."""


def folder() -> Path:
    """Where the parts live: switchyard/parts below the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "switchyard" / "parts"


def cached(name: str, make: Callable[[Path], None]) -> Path:
    """The folder of part `name`; where it is missing, `make` fills it, under a lock, all or nothing."""
    ready = folder() / name
    if ready.exists():
        return ready
    if not build_missing:
        raise UnavailableError("it has not been built yet; `make parts` builds it")
    folder().mkdir(parents=True, exist_ok=True)
    with (folder() / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ready.exists():
            partial = folder() / f"{name}.partial"
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir()
            make(partial)
            partial.rename(ready)
    return ready


def tool(name: str) -> str:
    """The full path of a build tool that the person has to have."""
    path = shutil.which(name)
    if path is None:
        raise UnavailableError(f"it is built with {name}, which is not installed")
    return path


def run(argv: Sequence[str | Path], *, cwd: Path, env: dict[str, str] | None = None) -> str:
    """One step of a build: what it prints; its last words are the reason where it fails."""
    everything = {**os.environ, **(env or {})}
    done = subprocess.run(argv, cwd=cwd, env=everything, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UnavailableError(f"{argv[0]} failed: {(done.stdout + done.stderr)[-2000:]}")
    return done.stdout
