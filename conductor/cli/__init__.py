"""The `conductor` command."""

from switchyard.cli.program import program, run

COMMANDS = {
    "run": "conductor.cli.run:run",
    "once": "conductor.cli.run:once",
}

app = program("conductor", "Claims what is due and dispatches it.", COMMANDS)


def main() -> None:
    """The entry point."""
    run(app)
