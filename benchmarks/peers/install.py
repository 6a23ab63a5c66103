"""Where the peers are: npm and PyPI packages and a Go binary in the cache folder, keyed by what they are made of."""

import hashlib
import shutil
import subprocess
from pathlib import Path

from tests.parts.cache import UnavailableError, cached, run, tool

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


def python() -> Path:
    """An environment with the peers in Python, our scripts beside its `bin`."""
    source = HERE / "python"

    def make(folder: Path) -> None:
        shutil.copytree(source, folder, dirs_exist_ok=True)
        # Its python finds its packages by its own path, so the folder may be renamed once it is whole.
        run([_python_3_12(), "-m", "venv", folder], cwd=folder)
        run([folder / "bin" / "python", "-m", "pip", "install", "-q", "-r", "requirements.txt"], cwd=folder)

    return cached(f"bench-python-{_digest(source)}", make)


def _python_3_12() -> str:
    """oban needs it, or a later one; pyenv keeps those that are not on the path."""
    named = [shutil.which(f"python3.{minor}") for minor in (14, 13, 12)]
    kept = sorted(map(str, Path.home().glob(".pyenv/versions/3.1[234].*/bin/python")))
    for path in filter(None, [*named, *kept]):
        if subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode == 0:
            return path
    raise UnavailableError("oban needs Python 3.12 or later, and there is none")


def _digest(folder: Path) -> str:
    files = sorted(path for path in folder.iterdir() if path.is_file())
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]
