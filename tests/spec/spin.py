"""Spin: makes a checker from a model, and explores every state that the model can reach, breadth first.

Breadth first, so that a counterexample is a shortest one and its length the same in every run. The checker exits with 0
even where it found an error: what it prints decides.
"""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.parts.need import need

FOLDER = Path(__file__).parents[2] / "spec"
_SECONDS = 300


@dataclass(frozen=True)
class Result:
    """What the checker found."""

    errors: int
    states: int
    steps: int | None  # of the shortest counterexample
    complete: bool
    output: str


def check(model: str, folder: Path, *switches: str) -> Result:
    """Explore spec/<model>.pml with these switches defined."""
    for program in ("spin", "gcc"):
        if shutil.which(program) is None:
            need("Spin", f"{program} is not installed (.ci/packages)")
    defined = [f"-D{switch}" for switch in switches]
    _run(folder, "spin", *defined, "-a", str(FOLDER / f"{model}.pml"))
    _run(folder, "gcc", "-O2", "-w", "-DSAFETY", "-DBFS", "-o", "pan", "pan.c")
    return _read(_run(folder, "./pan", "-m1000000"))


def _run(folder: Path, *words: str) -> str:
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=_SECONDS, check=False)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def _read(output: str) -> Result:
    errors = re.search(r"errors: (\d+)", output)
    states = re.search(r"(\d+) states, stored", output)
    steps = re.search(r"\(at depth (\d+)\)", output)
    assert errors, output
    assert states, output
    incomplete = "Search not completed" in output or "max search depth too small" in output
    return Result(int(errors[1]), int(states[1]), int(steps[1]) if steps else None, not incomplete, output)
