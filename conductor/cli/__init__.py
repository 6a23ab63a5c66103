"""The `conductor` command."""

from switchyard.cli.program import Command, program, run

COMMANDS = {
    "run": Command("conductor.cli.run:run", "Serve the configured action names until stopped."),
    "once": Command("conductor.cli.run:once", "Dispatch what is due now, wait for its outcomes, and exit."),
}

app = program("conductor", "Claims what is due and dispatches it.", COMMANDS)


def main() -> None:
    """The entry point."""
    run(app)
