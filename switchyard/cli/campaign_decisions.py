"""Decisions about one campaign: pause, resume, cancel, retrigger."""

from typing import Annotated, Any

import typer

from switchyard.cli.database import configured, connected
from switchyard.cli.options import Actor, AsJson, ConfigFile, Reason
from switchyard.cli.output import print_json, printable
from switchyard.errors import BadInput
from switchyard.ledger.actor import actor
from switchyard.ledger.queries import query

Name = Annotated[str, typer.Argument(help="The campaign.")]
GROUP = 1000


def pause(
    name: Name, *, reason: Reason, config: ConfigFile = None, who: Actor = None, as_json: AsJson = False
) -> None:
    """Submit no more items until it is resumed; what is open goes on.

    Example: switchyard campaign pause spring --reason "the cluster is needed"
    """
    changed = _decided(config, "pause", name, who, reason)
    _print(as_json, name, changed, f"{name} is paused.", f"{name} was paused already.")


def resume(
    name: Name, *, reason: Reason, config: ConfigFile = None, who: Actor = None, as_json: AsJson = False
) -> None:
    """Submit items again.

    Example: switchyard campaign resume spring --reason "the cluster is free"
    """
    changed = _decided(config, "resume", name, who, reason)
    _print(as_json, name, changed, f"{name} is resumed.", f"{name} was not paused.")


def cancel(
    name: Name, *, reason: Reason, config: ConfigFile = None, who: Actor = None, as_json: AsJson = False
) -> None:
    """End the campaign and everything of it that is open; `retrigger` would go on with it.

    Example: switchyard campaign cancel spring --reason "wrong collection"
    """
    changed = _decided(config, "cancel", name, who, reason)
    _print(as_json, name, changed, f"{name} is canceled.", f"{name} had ended already.")


def retrigger(
    name: Name,
    *,
    failed: Annotated[bool, typer.Option("--failed", help="Those that ended without success.")] = False,
    reason: Reason,
    config: ConfigFile = None,
    who: Actor = None,
    as_json: AsJson = False,
) -> None:
    """Retrigger every item that ended without success, and open the campaign again.

    Example: switchyard campaign retrigger spring --failed --reason "the disk is larger now"
    """
    if not failed:
        raise BadInput("--failed: say so, for only items that ended without success can be retriggered")
    done = 0
    with connected(configured(config)) as connection:
        [[before]] = [row.values() for row in connection.execute(query("campaigns", "now")).fetchall()]
        values = {"name": name, "most": GROUP, "actor": who or actor(), "reason": reason, "before": before}
        while row := connection.execute(query("campaigns", "retrigger"), values).fetchone():
            done += row["retriggered"]
            if row["retriggered"] < GROUP:
                break
    print_json({"name": name, "retriggered": done}) if as_json else print(f"{done:,} retriggered.")


def _decided(config: ConfigFile, decision: str, name: str, who: str | None, reason: str) -> bool:
    values: dict[str, Any] = {"name": name, "actor": who or actor(), "reason": reason}
    with connected(configured(config)) as connection:
        row = connection.execute(query("campaigns", decision), values).fetchone()
    if row is None:
        raise BadInput(f"there is no campaign {name!r}: `switchyard campaign list` shows them")
    return bool(row["changed"])


def _print(as_json: bool, name: str, changed: bool, done: str, already: str) -> None:
    if as_json:
        print_json({"name": name, "changed": changed})
    else:
        print(printable(done if changed else already))
