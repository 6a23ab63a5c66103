"""What the commands of all programs share: error messages, exit codes, and a quick start.

A command's module is imported when the command is called, not to list it: the configuration's models and the
database driver take half a second of CPU time, which --help should not cost. So the line
that lists a command is read from its source file: the first line of its function's docstring.
"""

import ast
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from switchyard import __version__
from switchyard.cli.options import ConfigFile
from switchyard.errors import BadInput, SwitchyardError
from switchyard.extras import missing_extra
from switchyard.process.exit import say_the_rest
from switchyard.process.redact import redact, redact_tracebacks

SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"]}
# Plain help: typer's panels import a Markdown parser and a syntax highlighter, a third of a help text's time.
PLAIN: dict[str, Any] = {"rich_markup_mode": None, "pretty_exceptions_enable": False}
ADDRESS: ContextVar[str] = ContextVar("address")  # the URL that commands over HTTP use
VARIABLE = "SWITCHYARD_URL"
Url = Annotated[
    str | None,
    typer.Option(
        "--url",
        help=f"Use the HTTP API at this address, not the database; by default ${VARIABLE}, and the token is "
        "$SWITCHYARD_TOKEN. It may also be given after the command.",
        show_default=False,
    ),
]


def program(
    name: str, about: str, commands: Mapping[str, str], over_http: Mapping[str, str] | None = None
) -> typer.Typer:
    """The program of these commands, each given as `module:function`; `over_http`: those with a URL."""

    class Group(TyperGroup):
        """Lists commands without importing them; the one that is called is loaded."""

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            listed = super().get_command(ctx, cmd_name)
            if listed is not None:
                listed.help = listed.short_help = help_line(commands[cmd_name])
            return listed

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            called, listed, rest = super().resolve_command(ctx, args)
            place = commands.get(str(called), "")
            if over_http is not None and listed is not None:
                place, rest = _chosen(ctx, str(called), place, rest, over_http)
            return called, listed and _loaded(str(called), place), rest

    app = typer.Typer(
        name=name,
        cls=Group,
        help=about,
        no_args_is_help=True,
        context_settings=SETTINGS,
        **PLAIN,
    )
    for called in commands:
        app.command(called)(_listed)
    app.callback()(_root(name, commands, with_url=over_http is not None))
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
    """Turn a missing library into an error that names its extra."""
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
    alone = typer.Typer(add_completion=False, **PLAIN)
    if verbs:
        alone.callback(cls=Verbs, no_args_is_help=True, context_settings=SETTINGS)(function)
        for verb, run_it in verbs.items():
            alone.command(verb, context_settings=SETTINGS)(run_it)
    else:
        alone.command(called, context_settings=SETTINGS)(function)
    return typer.main.get_command(alone)


def _chosen(
    ctx: Any, called: str, place: str, rest: list[str], over_http: Mapping[str, str]
) -> tuple[str, list[str]]:
    """The command of that name that uses the database, or with a URL the one that uses HTTP."""
    after, rest = _taken(rest)
    given = after or ctx.params.get("url")
    url = given or os.environ.get(VARIABLE)
    if not url:
        return place, rest
    words, known = _words(called, rest, over_http)
    if not known and given:
        raise BadInput(f"{words} needs the database; with --url there are {', '.join(over_http)}")
    if not known:
        return place, rest
    ADDRESS.set(url)
    return over_http[called], rest


def _words(called: str, rest: list[str], over_http: Mapping[str, str]) -> tuple[str, bool]:
    """The command with its verb, where it has verbs, and whether that can be done over HTTP."""
    if called not in over_http:
        return called, False
    module = sys.modules[resolve_name(over_http[called]).__module__]
    verb = next((word for word in rest if not word.startswith("-")), None)
    verbs = getattr(module, "VERBS", None)
    return (called, True) if verbs is None or verb is None else (f"{called} {verb}", verb in verbs)


def _taken(rest: list[str]) -> tuple[str | None, list[str]]:
    """The value of --url among the arguments of a command, and the other arguments."""
    end = rest.index("--") if "--" in rest else len(rest)
    for place, word in enumerate(rest[:end]):
        if word == "--url" and place + 1 < end:
            return rest[place + 1], rest[:place] + rest[place + 2 :]
        if word.startswith("--url="):
            return word.removeprefix("--url="), rest[:place] + rest[place + 1 :]
    return None, rest


def _root(name: str, commands: Mapping[str, str], with_url: bool) -> Callable[..., None]:
    def show_version(wanted: bool) -> None:
        if wanted:
            print(f"{name} {__version__}")
            raise typer.Exit

    Version = Annotated[  # noqa: N806 - a type
        bool, typer.Option("--version", help="Print the version.", callback=show_version, is_eager=True)
    ]

    def root(ctx: typer.Context, config: ConfigFile = None, version: Version = False) -> None:
        del version
        if config is not None:  # `switchyard -c FILE list` is `switchyard list -c FILE`
            ctx.default_map = {called: {"config": str(config)} for called in commands}

    def root_with_url(
        ctx: typer.Context, config: ConfigFile = None, url: Url = None, version: Version = False
    ) -> None:
        del url  # _chosen has read it before this is called
        root(ctx, config, version)

    return root_with_url if with_url else root
