"""`assessment --show-completion`: the script with which a shell completes this command."""

import os
from pathlib import Path
from typing import Any

import click


def show_completion(context: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    """Print the script for the user's shell; for bash if click does not know it."""
    del parameter
    if not wanted:
        return
    from click.shell_completion import BashComplete, get_completion_class  # noqa: PLC0415 - a cold start counts

    shell: Any = get_completion_class(Path(os.environ.get("SHELL", "bash")).name) or BashComplete
    name = context.info_name or "assessment"
    click.echo(shell(context.command, {}, name, f"_{name.upper()}_COMPLETE").source())
    context.exit()
