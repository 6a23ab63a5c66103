"""The `conductor` command."""

from switchyard.cli.program import program, run

COMMANDS = {
    "run": "conductor.cli.run:run",
    "once": "conductor.cli.run:once",
}

app = program("conductor", "Claims due actions and dispatches them.", COMMANDS)


def main() -> None:
    """The entry point."""
    run(app)
