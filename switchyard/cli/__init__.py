"""The `switchyard` command: a file for each command; errors end here, as a message and an exit code."""

import sys
from typing import Annotated

import typer

from switchyard import __version__
from switchyard.cli.check import check
from switchyard.cli.decide import cancel, pause, resume, retrigger
from switchyard.cli.doctor import doctor
from switchyard.cli.keep import partitions, verify
from switchyard.cli.look import events, inbox, list_, workers
from switchyard.cli.migrate import migrate
from switchyard.cli.schema import schema
from switchyard.cli.show import show
from switchyard.cli.submit import submit
from switchyard.cli.up import up
from switchyard.cli.watch import watch
from switchyard.errors import SwitchyardError

app = typer.Typer(
    name="switchyard",
    help="Runs and tracks long workflows and their callbacks; Postgres is the only queue and the only truth.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("list")(list_)
for _command in (
    up,
    check,
    schema,
    migrate,
    submit,
    show,
    events,
    watch,
    inbox,
    retrigger,
    cancel,
    pause,
    resume,
    workers,
    partitions,
    verify,
    doctor,
):
    app.command()(_command)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"switchyard {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Runs and tracks long workflows and their callbacks."""
    del version


def main() -> None:
    """Run the command; an error of ours becomes its message and its exit code."""
    try:
        app()
    except SwitchyardError as error:
        print(f"switchyard: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
