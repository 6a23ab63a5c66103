"""The `assessment` command: a file for each command; errors end here, as one message and an exit code."""

import sys
from typing import Annotated

import typer

from assessment.cli.bundle import bundle
from assessment.cli.run import run
from switchyard import __version__
from switchyard.errors import SwitchyardError
from switchyard.runtime.exit import Exit

app = typer.Typer(
    name="assessment",
    help="Nutrient and great crested newt impact assessments: one file, a queue of jobs, the reference data.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(run)
app.add_typer(bundle, name="bundle")


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"assessment {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Nutrient and great crested newt impact assessments."""
    del version


def main() -> None:
    """Run the command; an error of ours becomes its message and its exit code."""
    try:
        app()
    except SwitchyardError as error:
        print(f"assessment: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except MemoryError:
        print("assessment: not enough memory for this input", file=sys.stderr)
        sys.exit(Exit.FAILURE)
