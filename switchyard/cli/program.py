"""What our programs' commands share: options, errors as a message and an exit code, and a quick start.

A command's module is imported when the command is called, not to list it: the configuration's models and the
database driver take half a second of processor, which nobody who asks for --help should pay.
"""

import sys
from collections.abc import Callable, Mapping
from pkgutil import resolve_name
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperGroup

from switchyard import __version__
from switchyard.errors import SwitchyardError
from switchyard.process.exit import say_the_rest
from switchyard.process.redact import redact, redact_tracebacks

SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"]}


class Command(NamedTuple):
    """Where its function is (`module:function`), and the line that tells of it in the list."""

    place: str
    line: str


def program(name: str, about: str, commands: Mapping[str, Command]) -> typer.Typer:
    """The program of these commands."""

    class Group(TyperGroup):
        """Lists commands by their lines; the one that is called is loaded."""

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            called, listed, rest = super().resolve_command(ctx, args)
            return called, listed and _loaded(str(called), commands[str(called)]), rest

    app = typer.Typer(
        name=name,
        cls=Group,
        help=about,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings=SETTINGS,
    )
    for called, command in commands.items():
        app.command(called, help=command.line)(_listed)
    app.callback()(_root(name))
    return app


def run(app: typer.Typer) -> None:
    """Run the program; an error of ours becomes its message and its exit code."""
    redact_tracebacks()
    try:
        app(prog_name=app.info.name)
    except SwitchyardError as error:
        print(redact(f"{app.info.name}: {error}"), file=sys.stderr)
        sys.exit(error.exit_code)
    finally:
        say_the_rest()


def _listed() -> None:
    """Stands for a command that has not been loaded."""


def _loaded(called: str, command: Command) -> Any:
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    alone.command(called, context_settings=SETTINGS)(resolve_name(command.place))
    return typer.main.get_command(alone)


def _root(name: str) -> Callable[..., None]:
    def show_version(wanted: bool) -> None:
        if wanted:
            print(f"{name} {__version__}")
            raise typer.Exit

    def root(
        version: Annotated[
            bool, typer.Option("--version", help="Print the version.", callback=show_version, is_eager=True)
        ] = False,
    ) -> None:
        del version

    return root
