"""Every model holds; without any one of its guards Spin finds the counterexample that docs/spec.md states."""

import re
from pathlib import Path

import pytest

from tests.spec.spin import FOLDER, check

PAGE = (FOLDER.parent / "docs" / "spec.md").read_text()
HOLDS = re.findall(r"^\| `spec/(\w+)\.pml` \|.*\| ([\d,]+) \|$", PAGE, re.MULTILINE)
MUTANTS = re.findall(r"^\| .+ \| `(\w+)` \| `([A-Z_]+)` \| (\d+) \|.*$", PAGE, re.MULTILINE)
SWITCH = re.compile(r"^#ifn?def ([A-Z_]+)$", re.MULTILINE)


@pytest.mark.parametrize(("model", "states"), HOLDS)
def test_the_model_holds_in_every_state(model: str, states: str, tmp_path: Path) -> None:
    found = check(model, tmp_path)
    assert (found.errors, found.complete) == (0, True), found.output
    assert found.states == int(states.replace(",", ""))


@pytest.mark.parametrize(("model", "mutant", "steps"), MUTANTS)
def test_without_the_guard_there_is_a_counterexample(
    model: str, mutant: str, steps: str, tmp_path: Path
) -> None:
    found = check(model, tmp_path, mutant)
    assert (found.errors, found.steps) == (1, int(steps)), found.output
    assert "assertion violated" in found.output


def test_the_page_lists_every_model_and_every_mutant() -> None:
    models = {file.stem: set(SWITCH.findall(file.read_text())) for file in FOLDER.glob("*.pml")}
    assert {model for model, _ in HOLDS} == set(models)
    assert {(model, mutant) for model, mutant, _ in MUTANTS} == {
        (model, mutant) for model, mutants in models.items() for mutant in mutants
    }


def test_steps_are_named_after_functions_that_exist() -> None:
    """What a model says of the database is the name of a function there, or of a step of one."""
    current = "".join(file.read_text() for file in (FOLDER.parent / "migrations" / "current").glob("*.sql"))
    functions = set(re.findall(r"create or replace function switchyard\.(\w+)\(", current))
    named = {
        name for file in FOLDER.glob("*.pml") for name in re.findall(r"switchyard\.(\w+)", file.read_text())
    }
    assert named
    assert named <= functions
