"""`switchyard pause` and `switchyard resume`."""

from typing import Annotated

import typer

from switchyard.cli.complete import action_names
from switchyard.cli.database import configured, connected
from switchyard.cli.options import Actor, AsJson, ConfigFile, Reason
from switchyard.cli.output import print_json
from switchyard.ledger.actor import actor
from switchyard.ledger.queries import query

Name = Annotated[str, typer.Argument(help="The action name.", autocompletion=action_names)]


def pause(
    name: Name, *, reason: Reason, config: ConfigFile = None, who: Actor = None, as_json: AsJson = False
) -> None:
    """Stop claiming actions of a name until it is resumed; those in flight continue.

    Example: switchyard pause webhook --reason "partner is down"
    """
    changed = _set(config, "pause", name, who, reason)
    if as_json:
        print_json({"action_name": name, "paused": True, "changed": changed})
    else:
        print(f"{name} is paused." if changed else f"{name} was paused already.")


def resume(
    name: Name, *, reason: Reason, config: ConfigFile = None, who: Actor = None, as_json: AsJson = False
) -> None:
    """Resume claiming actions of a name.

    Example: switchyard resume webhook --reason "partner is back"
    """
    changed = _set(config, "resume", name, who, reason)
    if as_json:
        print_json({"action_name": name, "paused": False, "changed": changed})
    else:
        print(f"{name} is resumed." if changed else f"{name} was not paused.")


def _set(config: ConfigFile, decision: str, name: str, who: str | None, reason: str) -> bool:
    values = {"name": name, "actor": who or actor(), "reason": reason}
    with connected(configured(config)) as connection:
        row = connection.execute(query("decide", decision), values).fetchone()
    return bool(row and row["changed"])
