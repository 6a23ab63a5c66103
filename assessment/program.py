"""The entry point of the `assessment` command; if its extra is missing, it says what to install."""

import sys

from switchyard.extras import missing_extra


def main() -> None:
    """Run the command."""
    try:
        from assessment.cli import main as run  # noqa: PLC0415 - its libraries belong to an extra
    except ModuleNotFoundError as error:
        missing = missing_extra(error)
        if missing is None:
            raise
        print(f"assessment: {missing}", file=sys.stderr)  # noqa: T201
        sys.exit(missing.exit_code)
    run()
