"""The `signalbox` command."""

from switchyard.cli.program import program, run

COMMANDS = {"run": "signalbox.cli.run:run", "openapi": "signalbox.cli.openapi:openapi"}

app = program("signalbox", "The HTTP API (OGC API Processes) and the dashboard.", COMMANDS)


def main() -> None:
    """The entry point."""
    run(app)
