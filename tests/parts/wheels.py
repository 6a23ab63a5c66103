"""The wheels that the product is shipped with, kept so that an image can be built without a network."""

import hashlib
import sys
from pathlib import Path

from tests.parts.cache import cached, run, tool

ROOT = Path(__file__).parents[2]
LOCK = ROOT / "requirements-runtime.lock"


def wheels() -> Path:
    """The folder of the wheels for the Python that runs the tests."""
    tool("docker")
    known = hashlib.sha256(LOCK.read_bytes()).hexdigest()[:12]
    return cached(f"wheels-{sys.implementation.cache_tag}-{known}", _download)


def _download(into: Path) -> None:
    pinned: list[str | Path] = ["--require-hashes", "--only-binary=:all:", "-r", LOCK]
    run([sys.executable, "-m", "pip", "download", "--quiet", *pinned, "-d", into], cwd=ROOT)
