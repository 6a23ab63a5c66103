"""The `caboose` command."""

from switchyard.cli.program import Command, program, run

COMMANDS = {
    "run": Command(
        "caboose.cli.run:run", "Run until SIGTERM or SIGINT; SIGHUP reads the configuration again."
    ),
}

app = program("caboose", "Brings workflow states back: archives, records, calls back, cleans up.", COMMANDS)


def main() -> None:
    """The entry point."""
    run(app)
