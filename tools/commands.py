"""docs/cli.md, made from the commands themselves: see `make schema`."""

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from typer.main import get_command

import assessment.cli
import caboose.cli
import conductor.cli
import signalbox.cli
import switchyard.cli

HEAD = """# Command reference

Made by `make schema` from the commands; `--help` prints the same. Every command has `-h`; every program has
`--version`, `--install-completion` and `--show-completion`, and takes `-c FILE` before its command as well.

| exit code | meaning |
| --- | --- |
| 0 | done |
| 1 | done, and the answer is no: an action failed, the ledger has contradictions, a check found something |
| 2 | the command line is wrong |
| 65 | the input is wrong: retrying cannot help |
| 75 | something that is needed did not answer: try again |
| 78 | the configuration or the installation is wrong |
| 130 | Ctrl-C |
"""
PROGRAMS = {
    "switchyard": switchyard.cli.app,
    "conductor": conductor.cli.app,
    "caboose": caboose.cli.app,
    "signalbox": signalbox.cli.app,
}
_WORDS = {
    Path: "path",
    int: "whole number",
    float: "number",
    "integer": "whole number",
    "float": "number",
    "path": "path",
}
_SHARED = {"help", "version", "install_completion", "show_completion"}


def reference() -> str:
    """The whole document."""
    parts = [HEAD]
    for name, app in PROGRAMS.items():
        group = get_command(app)
        parts += [f"## {name}\n\n{group.help}\n", *_commands(name, group)]
    parts += [f"## assessment\n\n{_text(assessment.cli.app.help)}\n"]
    parts += _nested("assessment", assessment.cli.app)
    return "\n".join(parts)


def _commands(program: str, group: Any) -> Iterator[str]:
    context = group.make_context(program, [], resilient_parsing=True)
    for name in group.list_commands(context):
        command = group.resolve_command(context, [name])[1]
        yield _section(f"{program} {name}", command)
        yield from _nested(f"{program} {name}", command)


def _nested(title: str, command: Any) -> Iterator[str]:
    for name, each in getattr(command, "commands", {}).items():
        yield _section(f"{title} {name}", each)
        yield from _nested(f"{title} {name}", each)


def _section(title: str, command: Any) -> str:
    rows = [_row(parameter) for parameter in command.params if parameter.name not in _SHARED]
    table = ["| option | value | default | meaning |", "| --- | --- | --- | --- |", *rows] if rows else []
    return "\n".join([f"### {title}", "", _text(command.help), *([""] if rows else []), *table, ""])


def _text(text: str | None) -> str:
    """A help text, with its example as code."""
    lines = inspect.cleandoc(text or "").replace("\b", "").splitlines()
    return "\n".join(f"Example: `{line[9:]}`" if line.startswith("Example: ") else line for line in lines)


def _row(parameter: Any) -> str:
    option = parameter.param_type_name == "option"
    names = ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])
    cells = (
        names if option else f"`{parameter.metavar or str(parameter.name).upper()}`",
        _value(parameter) if option else "",
        _default(parameter),
        getattr(parameter, "help", None) or "",
    )
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _value(parameter: Any) -> str:
    """What an option takes. The assessment command is made with click, the others with typer."""
    if parameter.is_flag:
        return ""
    if parameter.metavar:
        return str(parameter.metavar)
    if hasattr(parameter, "type"):
        return ", ".join(
            getattr(parameter.type, "choices", None) or [_WORDS.get(parameter.type.name, "text")]
        )
    annotation = parameter.type_descriptor.annotation
    return (
        ", ".join(get_args(annotation))
        if get_origin(annotation) is Literal
        else _WORDS.get(annotation, "text")
    )


def _default(parameter: Any) -> str:
    default = parameter.default
    if parameter.required:
        return "required"
    if isinstance(default, (str, int, float)) and not isinstance(default, bool) and default != "":
        return f"`{getattr(default, 'value', default)}`"
    return ""


if __name__ == "__main__":
    sys.stdout.write(reference())
