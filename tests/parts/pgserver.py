"""PostgreSQL 16, as the wheel `pgserver` has it; only its binaries are used."""

import sys
from pathlib import Path

from tests.parts.cache import cached, run

LOCK = Path(__file__).with_suffix(".lock")
MAJOR = "16"


def binaries() -> Path:
    """The folder of initdb and postgres; the first call downloads them."""
    return cached("pgserver-0.1.4", _install) / "pgserver" / "pginstall" / "bin"


def _install(into: Path) -> None:
    uv = Path(sys.executable).parent / "uv"
    # The wheels differ only in the Python that they are for, which nothing here imports.
    options = ["--no-deps", "--require-hashes", "--only-binary", ":all:", "--python-version", "3.11"]
    run([uv, "pip", "install", "--quiet", *options, "--target", into, "-r", LOCK], cwd=into)
