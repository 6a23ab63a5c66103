"""Where the peers are: npm packages and a Go binary in the cache folder, keyed by what they are made of."""

import hashlib
import shutil
from pathlib import Path

from tests.parts.cache import cached, run, tool

HERE = Path(__file__).parent


def node() -> Path:
    """A folder with our scripts beside node_modules."""
    source = HERE / "node"

    def make(folder: Path) -> None:
        shutil.copytree(source, folder, dirs_exist_ok=True)
        run([tool("npm"), "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=folder)

    return cached(f"bench-node-{_digest(source)}", make)


def river() -> Path:
    """The River program."""
    source = HERE / "river"

    def make(folder: Path) -> None:
        shutil.copytree(source, folder / "source")
        run([tool("go"), "build", "-o", folder / "river", "."], cwd=folder / "source")

    return cached(f"bench-river-{_digest(source)}", make) / "river"


def _digest(folder: Path) -> str:
    files = sorted(path for path in folder.iterdir() if path.is_file())
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]
