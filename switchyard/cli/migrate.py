"""`switchyard migrate`: brings the database to the schema of this version."""

from typing import Annotated

import typer

from switchyard.cli.database import config_or_default
from switchyard.cli.options import AsJson, ConfigFile
from switchyard.cli.output import print_json
from switchyard.errors import SwitchyardError
from switchyard.runtime.exit import Exit


def migrate(
    config: ConfigFile = None,
    check: Annotated[
        bool, typer.Option("--check", help="Only say what is pending; exit 1 if anything is.")
    ] = False,
    down: Annotated[
        str | None,
        typer.Option(
            "--down",
            metavar="REVISION",
            help="Go back to a revision; `base` takes everything away.",
            show_default=False,
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before going back.")] = False,
    as_json: AsJson = False,
) -> None:
    """Bring the database to the schema of this version; does nothing where it is.

    Example: switchyard migrate --check
    """
    from switchyard.ledger import migrate as migrations  # noqa: PLC0415 - Alembic takes half a second to import

    url = config_or_default(config).database.conninfo()
    if down is not None:
        if not yes:
            typer.confirm(f"Go back to {down}? What later revisions keep is lost.", abort=True)
        migrations.downgrade(url, down)
    pending = [] if down is not None else migrations.pending(url)
    if pending and not check:
        migrations.upgrade(url)
    _report(migrations.current(url), migrations.newest(), pending, check, as_json)


def _report(
    current: str | None, newest: str | None, pending: list[tuple[str, str]], check: bool, as_json: bool
) -> None:
    if as_json:
        print_json({"revision": current, "newest": newest, "steps": [name for _, name in pending]})
    else:
        for _, name in pending:
            print(f"{'pending' if check else 'applied'}  {name}")
        print(f"The database is at {current or 'no revision'}; this version needs {newest}.")
    if check and pending:
        raise typer.Exit(Exit.FAILURE)
    if current not in (None, newest) and not check and pending:
        raise SwitchyardError(f"the database stayed at {current}")
