"""`switchyard migrate`."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import psycopg
import typer

from switchyard.cli.database import configured, missing_file_named
from switchyard.cli.options import AsJson, ConfigFile
from switchyard.cli.output import print_json
from switchyard.ledger.errors import translated
from switchyard.process.exit import Exit

if TYPE_CHECKING:
    from switchyard.ledger.rights import Rights


def migrate(
    config: ConfigFile = None,
    check: Annotated[bool, typer.Option("--check", help="Only show what is pending; exit 1 if any.")] = False,
    down: Annotated[
        str | None,
        typer.Option(
            "--down",
            metavar="REVISION",
            help="Downgrade to a revision; `base` removes everything.",
            show_default=False,
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before going back.")] = False,
    as_sql: Annotated[
        bool, typer.Option("--sql", help="Only print the schema as SQL, for those who run it themselves.")
    ] = False,
    since: Annotated[
        str | None,
        typer.Option("--from", metavar="REVISION", help="With --sql: the database's revision, if any."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Migrate the database to the schema of this version; repeating it repairs functions and grants.

    If this user lacks rights for it, it prints what an administrator has to run first, and exits with 1.

    Example: switchyard migrate --check
    """
    if as_sql:
        from switchyard.ledger import migrate as migrations  # noqa: PLC0415 - takes half a second

        print(migrations.script(since), end="")
        return
    settings = configured(config)
    if down is not None and not yes:
        typer.confirm(f"Go back to {down}? Data of later revisions is lost.", abort=True)
    with missing_file_named(settings), _explained():
        _migrate(settings.database.conninfo(), down, check, as_json)


def _migrate(url: str, down: str | None, check: bool, as_json: bool) -> None:
    from switchyard.ledger import migrate as migrations  # noqa: PLC0415 - Alembic takes half a second to import

    if down is not None:
        migrations.downgrade(url, down)
    pending = [] if down is not None else migrations.pending(url)
    if down is None and not check:
        _refuse_without_rights(migrations.missing_rights(url))
        migrations.upgrade(url)
    _report(migrations.current(url), migrations.newest(), pending, check, as_json)


def _refuse_without_rights(found: "Rights") -> None:
    """The reason goes to stderr, the script to stdout: `switchyard migrate > for-the-administrator.sql`."""
    if found.missing:
        what = "; ".join(found.missing)
        typer.echo(f"{found.user} may not: {what}. An administrator has to run this first:", err=True)
        print(found.script)
        raise typer.Exit(Exit.FAILURE)


@contextmanager
def _explained() -> Iterator[None]:
    """Database errors as messages; ours come as they are, Alembic's own come wrapped."""
    try:
        yield
    except Exception as error:
        refused = getattr(error, "orig", error)
        if isinstance(refused, psycopg.Error):
            raise translated(refused) from error
        raise


def _report(current: str | None, newest: str | None, pending: list[str], check: bool, as_json: bool) -> None:
    if as_json:
        print_json({"revision": current, "newest": newest, "steps": pending})
    else:
        for name in pending:
            print(f"{'pending' if check else 'applied'}  {name}")
        print(f"The database is at {current or 'no revision'}; this version needs {newest}.")
    if check and pending:
        raise typer.Exit(Exit.FAILURE)
