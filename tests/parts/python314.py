"""Python 3.14 where the machine has none: a standalone build, as a Go module carries it for embedding.

`python -m tests.parts.python314` prints its path; the first time it is downloaded. It has no ensurepip: make
environments with `uv venv --python`.
"""

import gzip
import json
import platform
import sys
from pathlib import Path
from typing import Any

from tests.parts.cache import UnavailableError, cached
from tests.parts.golang import GoModule

MODULE = GoModule(
    "python",
    "github.com/kluctl/go-embed-python",
    "v0.0.0-3.14.6-20260610-1",
    "h1:oGUS7++Wm3LgxUfD6AmJgKbKQD2wdQFO9PzyJv6T+E4=",
    "python/internal/data/linux-amd64",
)
FOLDER = 0x80000000  # of the modes that Go writes
SYMLINK = 0x08000000


def interpreter() -> Path:
    """The command."""
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise UnavailableError("the build is for Linux on x86_64")
    return cached(f"python-{MODULE.version}", _unpack) / "bin" / "python3.14"


def _unpack(into: Path) -> None:
    """As the module's own list has it: folders, links, and files, the larger ones compressed."""
    packed = MODULE.source(into)
    for each in json.loads((packed / "files.json").read_text())["files"]:
        _write(into / each["name"], packed / each["name"], each)


def _write(file: Path, packed: Path, listed: dict[str, Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    if listed["perm"] & FOLDER:
        file.mkdir(exist_ok=True)
    elif listed["perm"] & SYMLINK:
        file.symlink_to(listed["symlink"])
    else:
        if listed.get("compressed"):
            file.write_bytes(gzip.decompress(packed.with_name(f"{packed.name}.gz").read_bytes()))
        else:
            file.write_bytes(packed.read_bytes())
        file.chmod(listed["perm"] & 0o777)


if __name__ == "__main__":
    try:
        print(interpreter())
    except UnavailableError as error:
        sys.exit(str(error))
