"""The programs of the release before, in an environment of their own, with the packages that it was locked with."""

import os
import subprocess
import sys
import tarfile
from pathlib import Path

from tests.parts.cache import UnavailableError, run

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
CHOSEN = "SWITCHYARD_TEST_RELEASE"  # a tag or commit of this repository, or a wheel
NEWEST = ("git", "describe", "--tags", "--abbrev=0", "--match", "v*", "HEAD^")


def before() -> str:
    """The release to compare with: the one named, else the newest before this commit, else this commit.

    Until there is a first release this proves the way of upgrading, and not two versions of the programs.
    """
    if CHOSEN in os.environ:
        return os.environ[CHOSEN]
    tagged = subprocess.run(NEWEST, cwd=ROOT, capture_output=True, text=True, check=False)
    return tagged.stdout.strip() or "HEAD"


def install(release: str, folder: Path) -> Path:
    """The folder of its commands."""
    wheel, lock = (Path(release), ROOT) if release.endswith(".whl") else _built(release, folder)
    environment = folder / "environment"
    uv: list[str | Path] = [BIN / "uv", "--quiet"]
    run([*uv, "venv", "--python", sys.executable, environment], cwd=folder)
    install: list[str | Path] = [*uv, "pip", "install", "--python", environment / "bin" / "python"]
    wanted: list[str | Path] = ["--constraint", lock / "requirements-runtime.lock", f"{wheel}[server]"]
    try:
        run([*install, "--offline", *wanted], cwd=folder)
    except UnavailableError:
        run([*install, *wanted], cwd=folder)
    return environment / "bin"


def _built(commit: str, folder: Path) -> tuple[Path, Path]:
    """The wheel of a commit, and its sources."""
    if not (ROOT / ".git").exists():
        raise UnavailableError("this is not a git checkout")
    source, packed = folder / "source", folder / "source.tar"
    run(["git", "archive", "--output", packed, commit], cwd=ROOT)
    with tarfile.open(packed) as archive:
        archive.extractall(source, filter="data")
    run([BIN / "hatchling", "build", "-t", "wheel", "-d", folder], cwd=source)
    [wheel] = folder.glob("*.whl")
    return wheel, source
