"""The `caboose` command."""

from switchyard.cli.program import program, run

COMMANDS = {"run": "caboose.cli.run:run"}

app = program("caboose", "Brings workflow states back: archives, records, calls back, cleans up.", COMMANDS)


def main() -> None:
    """The entry point."""
    run(app)
