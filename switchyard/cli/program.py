"""What the commands of all our programs share: errors as a message and an exit code, and a quick start.

A command's module is imported when the command is called, not to list it: the configuration's models and the
database driver take half a second of processor, which --help should not cost. So the line
that lists a command is read from its source file: the first line of its function's docstring.
"""

import ast
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from switchyard import __version__
from switchyard.cli.options import ConfigFile
from switchyard.errors import SwitchyardError
from switchyard.extras import missing_extra
from switchyard.process.exit import say_the_rest
from switchyard.process.redact import redact, redact_tracebacks

SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"]}


def program(name: str, about: str, commands: Mapping[str, str]) -> typer.Typer:
    """The program of these commands, each given as `module:function`."""

    class Group(TyperGroup):
        """Lists commands without importing them; the one that is called is loaded."""

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            listed = super().get_command(ctx, cmd_name)
            if listed is not None:
                listed.help = help_line(commands[cmd_name])
            return listed

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
    for called in commands:
        app.command(called)(_listed)
    app.callback()(_root(name, commands))
    return app


def run(app: typer.Typer) -> None:
    """Run the program; an error of ours becomes its message and its exit code."""
    redact_tracebacks()
    try:
        with _extras_named():
            app(prog_name=app.info.name)
    except SwitchyardError as error:
        print(redact(f"{app.info.name}: {error}"), file=sys.stderr)
        sys.exit(error.exit_code)
    finally:
        say_the_rest()


@contextmanager
def _extras_named() -> Iterator[None]:
    """A library that is not installed becomes an error that names the extra which brings it."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise missing_extra(error) or error from None


def help_line(place: str) -> str:
    """The first line of the docstring of `module:function`, without importing the module."""
    module, _, function = place.partition(":")
    spec = find_spec(module)
    assert spec is not None, module
    assert spec.origin is not None, module
    for node in ast.parse(Path(spec.origin).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name == function:
            return (ast.get_docstring(node) or "").partition("\n")[0]
    raise LookupError(place)


def _listed() -> None:
    """Placeholder for a command that has not been loaded."""


class Verbs(TyperGroup):
    """A command of several verbs, like `switchyard schedules list`; -c may stand before all of them."""

    def invoke(self, ctx: Any) -> Any:
        if ctx.default_map:
            ctx.default_map = dict.fromkeys(self.commands, ctx.default_map)
        return super().invoke(ctx)


def _loaded(called: str, place: str) -> Any:
    """The command; one whose module has VERBS is a group of them."""
    function = resolve_name(place)
    verbs: Mapping[str, Callable[..., None]] = getattr(sys.modules[function.__module__], "VERBS", {})
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    if verbs:
        alone.callback(cls=Verbs, no_args_is_help=True, context_settings=SETTINGS)(function)
        for verb, run_it in verbs.items():
            alone.command(verb, context_settings=SETTINGS)(run_it)
    else:
        alone.command(called, context_settings=SETTINGS)(function)
    return typer.main.get_command(alone)


def _root(name: str, commands: Mapping[str, str]) -> Callable[..., None]:
    def show_version(wanted: bool) -> None:
        if wanted:
            print(f"{name} {__version__}")
            raise typer.Exit

    def root(
        ctx: typer.Context,
        config: ConfigFile = None,
        version: Annotated[
            bool, typer.Option("--version", help="Print the version.", callback=show_version, is_eager=True)
        ] = False,
    ) -> None:
        del version
        if config is not None:  # `switchyard -c FILE list` is `switchyard list -c FILE`
            ctx.default_map = {called: {"config": str(config)} for called in commands}

    return root
