"""The programs' commands: listed without being loaded, loaded as they are called."""

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest

import caboose.cli
import conductor.cli
import signalbox.cli
import switchyard.cli
from switchyard.cli.program import help_line

COMMANDS = {
    "switchyard": switchyard.cli.COMMANDS,
    "conductor": conductor.cli.COMMANDS,
    "caboose": caboose.cli.COMMANDS,
    "signalbox": signalbox.cli.COMMANDS,
}
EVERY = [(program, name) for program, commands in COMMANDS.items() for name in commands]
# What takes its time to import, and what no help text needs.
HEAVY = (
    "aiohttp", "alembic", "asyncio", "botocore", "jinja2", "jsonpath", "kubernetes", "numpy", "prometheus_client",
    "psycopg", "psutil", "pydantic", "shapely", "sqlalchemy", "starlette", "structlog", "uvicorn", "yaml",
)  # fmt: skip
LOADED = """
import sys
from {program}.cli import main
sys.argv = ["{program}", *sys.argv[1:]]
try:
    main()
except SystemExit as end:
    assert end.code == 0, end
print(*sorted(sys.modules.keys() & set({heavy})), file=sys.stderr)
"""


def function(program: str, name: str) -> Any:
    return resolve_name(COMMANDS[program][name])


@pytest.mark.parametrize(("program", "name"), EVERY)
def test_the_line_in_the_list_is_the_first_of_the_help(program: str, name: str) -> None:
    line = help_line(COMMANDS[program][name])
    assert line.endswith(".")
    assert (inspect.getdoc(function(program, name)) or "").splitlines()[0] == line


@pytest.mark.parametrize(("program", "name"), EVERY)
def test_every_help_has_an_example(program: str, name: str) -> None:
    assert f"Example: {program} {name}" in (inspect.getdoc(function(program, name)) or "")


def test_every_verb_has_an_example() -> None:
    from switchyard.cli.schedules import VERBS

    for verb, run_it in VERBS.items():
        assert f"Example: switchyard schedules {verb}" in (inspect.getdoc(run_it) or "")


def test_the_configuration_may_be_named_before_a_command_with_verbs(tmp_path: Path) -> None:
    file = tmp_path / "other.yaml"
    file.write_text("database: {url: nowhere}")
    for words in (["-c", str(file), "schedules", "list"], ["schedules", "list", "-c", str(file)]):
        done = subprocess.run(
            [sys.executable, "-m", "switchyard", *words], capture_output=True, text=True, check=False
        )
        assert "other.yaml" in done.stderr, words


@pytest.mark.parametrize("words", [["--help"], ["--version"]])
@pytest.mark.parametrize("program", [*COMMANDS, "assessment"])
def test_help_and_version_load_nothing_heavy(program: str, words: list[str]) -> None:
    code = LOADED.format(program=program, heavy=HEAVY)
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    assert done.stdout
    assert done.stderr.split() == []


@pytest.mark.parametrize(
    ("words", "most"),
    [
        (["--help"], 230),
        (["submit", "--help"], 530),
        (["schedules", "--help"], 570),
        (["up", "--help"], 350),
        (["check", "--help"], 350),
    ],
)
def test_a_help_is_quick_for_it_imports_few_modules(words: list[str], most: int) -> None:
    """Modules, not seconds: the same everywhere. Half a second of CPU is about 600 of them."""
    code = LOADED.format(program="switchyard", heavy=()) + "\nprint(len(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    assert int(done.stderr.split()[-1]) <= most


COMPLETES = """
import contextlib, io, json, os, runpy, sys
for program, typed in json.loads(sys.argv[1]):
    os.environ.update(COMP_WORDS=typed, COMP_CWORD=str(typed.count(" ")))
    variable = f"_{program.upper()}_COMPLETE"
    os.environ[variable] = "complete_bash"
    sys.argv = [program]
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        try:
            runpy.run_module(program, run_name="__main__", alter_sys=True)
        except SystemExit as end:
            assert not end.code
    del os.environ[variable]
    print(json.dumps(shown.getvalue().split()))
"""


def completed(*asked: tuple[str, str], **environ: str) -> list[list[str]]:
    """What is offered for (program, typed), in one process: each start takes longer than its answer."""
    argv = [sys.executable, "-c", COMPLETES, json.dumps(asked)]
    done = subprocess.run(argv, env={**os.environ, **environ}, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_shell_completes_commands_and_their_options() -> None:
    offered = {
        ("switchyard", "switchyard re"): ["retrigger", "resume", "results"],
        ("switchyard", "switchyard list --st"): ["--status"],
        ("conductor", "conductor run --a"): ["--actions"],
        ("caboose", "caboose run --so"): ["--source"],
    }
    assert completed(*offered) == list(offered.values())


def test_every_program_shows_its_shell_completion() -> None:
    """All in one process, run by a shell: the shell is found among the ancestors, and a test may have none."""
    programs = [*COMMANDS, "assessment"]
    text = f"""
import runpy, sys
for program in {programs}:
    sys.argv = [program, "--show-completion"]
    try:
        runpy.run_module(program, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        assert not end.code
"""
    asked = ["bash", "-c", '"$0" -c "$1"; exit $?', sys.executable, text]
    shown = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    assert [program for program in programs if f"_{program.upper()}_COMPLETE" not in shown] == []


def test_an_exit_code_is_unchanged_where_the_output_has_no_reader() -> None:
    text = """
import sys, typer
from switchyard.cli.program import run
app = typer.Typer(name="x")
@app.command()
def main() -> None:
    print("to nobody")
    sys.exit(130)
run(app)
"""
    unread, written = os.pipe()
    os.close(unread)
    done = subprocess.run([sys.executable, "-c", text], stdout=written, check=False)
    os.close(written)
    assert done.returncode == 130


def test_newuser_30_the_shell_completes_names_and_statuses(tmp_path: Path) -> None:
    (tmp_path / "switchyard.yaml").write_text(
        "actions: {webhook: {type: noop}, argo: {type: argo, namespace: n}}\n"
        "workflows: {nutrient: {action: argo, template: t}}\n"
    )
    offered = {
        ("switchyard", "switchyard list --workflow n"): ["nutrient"],
        ("switchyard", "switchyard list --name w"): ["webhook"],
        ("switchyard", "switchyard submit w"): ["webhook"],
        ("switchyard", "switchyard pause a"): ["argo"],
        ("switchyard", "switchyard list --status su"): ["successful"],
    }
    environ = {"SWITCHYARD_CONFIG": str(tmp_path / "switchyard.yaml")}
    assert completed(*offered, **environ) == list(offered.values())
