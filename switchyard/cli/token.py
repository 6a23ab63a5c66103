"""`switchyard token`: add, list, revoke."""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import typer

from switchyard.cli.database import configured, connected
from switchyard.cli.options import Actor, AsJson, ConfigFile, Reason
from switchyard.cli.output import print_json
from switchyard.cli.table import print_table
from switchyard.config.units import parse_duration
from switchyard.errors import BadInput
from switchyard.ledger.actor import actor
from switchyard.ledger.queries import query
from switchyard.tokens import hash_of, new_token

ROLES = ("reader", "submitter", "operator", "admin")
FIELDS = "name role created_at=created created_by=by expires_at=expires last_used_at=used revoked_at=revoked"

Name = Annotated[str, typer.Argument(metavar="NAME", help="The token's name, recorded as its user's name.")]


def token() -> None:
    """Manage the tokens of the HTTP API.

    Example: switchyard token list
    """


def add(
    name: Name,
    role: Annotated[
        str, typer.Option("--role", metavar="ROLE", help="reader, submitter, operator or admin.")
    ],
    expires: Annotated[
        str | None,
        typer.Option("--expires", metavar="AGE", help="How long it is valid, like 90d; else without end."),
    ] = None,
    config: ConfigFile = None,
    who: Actor = None,
    as_json: AsJson = False,
) -> None:
    """Add a token and print it; it is not stored and cannot be printed again.

    Example: switchyard token add ci --role submitter --expires 90d
    """
    if role not in ROLES:
        raise BadInput(f"--role: {role!r} is not one of {', '.join(ROLES)}")
    made = new_token()
    values: dict[str, Any] = {
        "name": name,
        "role": role,
        "hash": hash_of(made),
        "expires_at": _until(expires),
    }
    with connected(configured(config)) as connection:
        connection.execute(query("token", "add"), {**values, "actor": who or actor()})
    if as_json:
        print_json({"name": name, "role": role, "expires_at": values["expires_at"], "token": made})
    else:
        print(made)


def list_(config: ConfigFile = None, as_json: AsJson = False) -> None:
    """List the tokens: role, expiry and last use.

    Example: switchyard token list
    """
    with connected(configured(config)) as connection:
        rows = connection.execute(query("token", "list")).fetchall()
    if as_json:
        print_json(rows)
        return
    print_table(rows, FIELDS, "There are no tokens: add one with `switchyard token add NAME --role reader`.")


def revoke(name: Name, reason: Reason, config: ConfigFile = None, who: Actor = None) -> None:
    """Revoke a token.

    Example: switchyard token revoke ci --reason "left the project"
    """
    with connected(configured(config)) as connection:
        values = {"name": name, "actor": who or actor(), "reason": reason}
        row = connection.execute(query("token", "revoke"), values).fetchone()
    assert row is not None
    if not row["changed"]:
        raise BadInput(f"there is no valid token {name!r}")
    print(f"{name} was revoked.")


def _until(age: str | None) -> datetime | None:
    if age is None:
        return None
    try:
        return datetime.now(UTC) + timedelta(seconds=parse_duration(age))
    except (ValueError, OverflowError) as error:
        raise BadInput(f"--expires: {error}") from None


VERBS = {"add": add, "list": list_, "revoke": revoke}
