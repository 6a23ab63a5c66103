"""A changed file is taken over once it is whole and good; until then the last good configuration stays."""

import asyncio
import os
from pathlib import Path

import pytest

from switchyard.config.config import Config
from switchyard.config.load import load
from switchyard.errors import ConfigError
from switchyard.process import reload as module
from switchyard.process.reload import EVERY, SETTLED, Reload, state_of, within

ONE = "actions: {one: {type: noop}}\n"
TWO = "actions: {one: {type: noop}, two: {type: noop}}\n"


class Program:
    def __init__(self) -> None:
        self.applied: list[Config] = []
        self.refuses = False

    async def apply(self, config: Config) -> None:
        if self.refuses:
            raise ConfigError("not this one")
        self.applied.append(config)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "switchyard.yaml"
    path.write_text(ONE)
    return path


@pytest.fixture
def program() -> Program:
    return Program()


@pytest.fixture
def reload(file: Path, program: Program) -> Reload:
    return Reload(file, load(file, {}), program.apply, state_of(file))


def write(file: Path, content: str) -> None:
    file.write_text(content)


def remove(file: Path) -> None:
    file.unlink()


async def test_a_changed_file_is_taken_over_when_two_looks_agree(
    file: Path, program: Program, reload: Reload
) -> None:
    assert await reload.run_once() == EVERY
    write(file, TWO)
    assert await reload.run_once() == SETTLED
    assert program.applied == []
    assert await reload.run_once() == EVERY
    assert [set(config.actions) for config in program.applied] == [{"one", "two"}]
    assert await reload.run_once() == EVERY
    assert len(program.applied) == 1


async def test_a_change_between_the_start_and_the_first_look_is_taken_over(
    file: Path, program: Program
) -> None:
    seen, config = state_of(file), load(file, {})
    write(file, TWO)
    assert await Reload(file, config, program.apply, seen).run_once() == EVERY
    assert [set(config.actions) for config in program.applied] == [{"one", "two"}]


@pytest.mark.parametrize(
    "content", ["", "nonsense: true\n", "# nothing\n", "actions: {one: {type: noo", "\0"]
)
async def test_a_file_that_is_empty_cut_off_or_wrong_changes_nothing(
    file: Path, program: Program, reload: Reload, content: str
) -> None:
    write(file, content)
    reload.ask()
    await reload.run_once()
    assert program.applied == []
    assert reload.problem is not None
    write(file, TWO)
    reload.ask()
    await reload.run_once()
    assert reload.problem is None
    assert len(program.applied) == 1


async def test_a_file_that_is_gone_changes_nothing(file: Path, program: Program, reload: Reload) -> None:
    remove(file)
    assert await reload.run_once() == EVERY
    reload.ask()
    await reload.run_once()
    assert program.applied == []
    assert "cannot be" in str(reload.problem)


async def test_a_configuration_that_the_program_refuses_is_reported(
    file: Path, program: Program, reload: Reload
) -> None:
    program.refuses = True
    write(file, TWO)
    reload.ask()
    await reload.run_once()
    assert reload.problem == "the file cannot be used: not this one"
    program.refuses = False
    reload.ask()
    await reload.run_once()
    assert len(program.applied) == 1


async def test_a_file_that_does_not_answer_is_not_waited_for(
    file: Path, program: Program, reload: Reload, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "READ_WITHIN", 0.2)
    remove(file)
    os.mkfifo(file)
    reload.ask()
    await asyncio.wait_for(reload.run_once(), 30)
    assert "took longer than" in str(reload.problem)
    os.close(os.open(file, os.O_RDWR | os.O_NONBLOCK))  # lets the thread that reads it end


async def test_what_a_function_raises_is_raised() -> None:
    def refuse() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await within(5, refuse)
    assert await within(5, int, "7") == 7
