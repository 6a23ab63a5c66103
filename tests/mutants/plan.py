"""Which files are changed, by which tests each is judged, and which changes are drawn."""

import random
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.change import Change
from tests.mutants.python_changes import python_changes
from tests.mutants.sql_changes import sql_changes

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


@dataclass(frozen=True)
class Group:
    """Files that the same tests judge."""

    name: str
    files: tuple[str, ...]
    tests: tuple[str, ...]


def groups(module: str | None = None, root: Path = ROOT) -> list[Group]:
    """The groups of modules.toml; with `module`, only the files whose path contains it."""
    listed = tomllib.loads((HERE / "modules.toml").read_text())
    found = []
    for name, group in listed.items():
        left_out = {path for glob in group.get("except", ()) for path in root.glob(glob)}
        paths = sorted({path for glob in group["files"] for path in root.glob(glob)} - left_out)
        files = tuple(str(path.relative_to(root)) for path in paths)
        chosen = tuple(file for file in files if module is None or module in file)
        if chosen:
            found.append(Group(name, chosen, tuple(group["tests"])))
    return found


def changes_of(file: str, root: Path = ROOT) -> list[Change]:
    source = (root / file).read_bytes()
    return (sql_changes if file.endswith(".sql") else python_changes)(file, source)


def drawn(files: Iterable[str], sample: int, seed: int, root: Path = ROOT) -> list[Change]:
    """`sample` changes of all these files, the same for the same seed."""
    everything = [change for file in sorted(files) for change in changes_of(file, root)]
    chosen = random.Random(seed).sample(everything, min(sample, len(everything)))
    return sorted(chosen)
