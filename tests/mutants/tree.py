"""A copy of the checkout, with at most one changed file, and the tests that run in it."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from tests.mutants.change import Change
from tests.mutants.plan import ROOT
from tests.mutants.warm import OUTPUT

_SWITCHES = (
    "-x",
    "-q",
    "--no-header",
    "--tb=line",
    "-p",
    "no:randomly",
    "-p",
    "no:cacheprovider",
    "--hypothesis-seed=0",
)


class Tree:
    """Where the tests of a change run; the checkout itself is never written to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.durations = folder / "durations.json"
        # Programs that the tests start import this copy too; no compiled file of one change serves another.
        ours = {
            "PYTHONPATH": str(folder),
            "PYTHONDONTWRITEBYTECODE": "1",
            "MUTANTS_DURATIONS": str(self.durations),
        }
        self._warm = subprocess.Popen(
            [sys.executable, "-m", "tests.mutants.warm"], cwd=folder, env={**os.environ, **ours}, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip

    def pytest(self, words: Sequence[str], seconds: float) -> int:
        """Its exit code, or that it took longer than that."""
        assert self._warm.stdin is not None
        assert self._warm.stdout is not None
        self._warm.stdin.write(json.dumps({"arguments": [*_SWITCHES, *words], "seconds": seconds}) + "\n")
        self._warm.stdin.flush()
        return int(self._warm.stdout.readline())

    @property
    def output(self) -> str:
        """What the last run printed."""
        return (self.folder / OUTPUT).read_text(errors="replace")[-4000:]

    def close(self) -> None:
        self._warm.kill()
        self._warm.communicate()

    @contextmanager
    def changed(self, change: Change) -> Iterator[None]:
        file = self.folder / change.file
        original = file.read_bytes()
        file.write_bytes(change.apply(original))
        try:
            yield
        finally:
            file.write_bytes(original)


@contextmanager
def copied() -> Iterator[Tree]:
    """A copy of every file that git knows or would add."""
    with tempfile.TemporaryDirectory(prefix="switchyard-mutants-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            check=True,
            capture_output=True,
        )
        for file in filter(None, listed.stdout.decode().split("\0")):
            if (ROOT / file).is_file():
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / file, folder / file)
        with closing(Tree(folder)) as tree:
            yield tree
