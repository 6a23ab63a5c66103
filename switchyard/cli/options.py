"""Options that several commands share."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "-c",
        "--config",
        metavar="FILE",
        help="The configuration file; by default $SWITCHYARD_CONFIG, else ./switchyard.yaml.",
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, max=1_000_000, help="At most this many rows.")]
Reason = Annotated[
    str, typer.Option("--reason", "-m", help="Why; it is recorded with the action.", prompt="Why?")
]
Actor = Annotated[str | None, typer.Option("--actor", help="By default user@host.", show_default=False)]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be done, without doing it.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
ActionId = Annotated[
    str, typer.Argument(metavar="ACTION", help="The action's id, or a unique beginning or end of it.")
]
ActionIds = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="ACTION",
        help="Ids of actions, or a unique beginning or end of each; or choose by filters.",
        show_default=False,
    ),
]


class ResumeFrom(StrEnum):
    """Where a new run begins."""

    START = "start"
    FAILED = "failed"


From = Annotated[
    ResumeFrom,
    typer.Option("--from", help="Repeat everything, or continue with what failed where the backend can."),
]
