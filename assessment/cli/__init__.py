"""The `assessment` command: one file per command; errors become one message and an exit code here.

Built on click: a cold start counts here, and typer loads pydantic before it parses its first option.
"""

import sys

import click

from assessment.cli.bundle import bundle
from assessment.cli.completion import show_completion
from assessment.cli.run import run
from assessment.cli.work import work
from switchyard import __version__
from switchyard.errors import SwitchyardError
from switchyard.process.exit import Exit, say_the_rest


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="assessment", message="%(prog)s %(version)s")
@click.option(
    "--show-completion",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=show_completion,
    help='Show what completes this command in your shell: eval "$(assessment --show-completion)".',
)
def app() -> None:
    """Nutrient and great crested newt impact assessments: one file, a queue of jobs, the reference data."""


app.add_command(run)
app.add_command(work)
app.add_command(bundle)


def main() -> None:
    """Run the command; a Switchyard error becomes its message and its exit code."""
    try:
        app(prog_name="assessment")
    except SwitchyardError as error:
        print(f"assessment: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except MemoryError:
        print("assessment: not enough memory for this input", file=sys.stderr)
        sys.exit(Exit.FAILURE)
    finally:
        say_the_rest()
