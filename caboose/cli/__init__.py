"""The `caboose` command."""

from switchyard.cli.program import program, run

COMMANDS = {"run": "caboose.cli.run:run"}

app = program("caboose", "Observes executions: archives and records their ends, inserts callbacks.", COMMANDS)


def main() -> None:
    """The entry point."""
    run(app)
