"""`switchyard up`: everything on one machine, and a sample assessment from submit to delivered callbacks."""

from pathlib import Path
from typing import Annotated

import typer


def up(
    folder: Annotated[
        Path, typer.Option(help="Where all data is stored; a second start continues with it.")
    ] = Path("switchyard-up"),
    port: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=65535,
            help="The webhook receiver's port; by default a free one. Callbacks that wait use the old port.",
            show_default=False,
        ),
    ] = None,
    once: Annotated[
        bool, typer.Option("--once", help="Stop when the sample and its callbacks are done.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Run the sample again, even if it ran before.")
    ] = False,
    no_sample: Annotated[
        bool, typer.Option("--no-sample", help="Do not run the sample; submit your own actions instead.")
    ] = False,
) -> None:
    """Start Postgres, conductor, caboose and a webhook receiver; run the sample; stay until Ctrl-C.

    Example: switchyard up --once
    """
    if no_sample and (once or again):
        raise typer.BadParameter("--once and --again are about the sample, which --no-sample leaves out")
    from switchyard.cli.everything import run_everything  # noqa: PLC0415 - half a second, not for a help text

    run_everything(folder, port, sample=not no_sample, once=once, again=again)
