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
WORDS = {
    "pause": ("is paused", "was paused already"),
    "resume": ("is resumed", "was not paused"),
    "cancel": ("is canceled", "had ended already"),
}


def pause(
    name: Name, *, reason: Reason, config: ConfigFile = None, who: Actor = None, as_json: AsJson = False
) -> None:
    """Stop submitting items until the campaign is resumed; open items continue.

    Example: switchyard campaign pause spring --reason "the cluster is needed"
    """
    print_decided("pause", name, _decided(config, "pause", name, who, reason), as_json)


def resume(
    name: Name, *, reason: Reason, config: ConfigFile = None, who: Actor = None, as_json: AsJson = False
) -> None:
    """Resume submitting items of a campaign.

    Example: switchyard campaign resume spring --reason "the cluster is free"
    """
    print_decided("resume", name, _decided(config, "resume", name, who, reason), as_json)


def cancel(
    name: Name, *, reason: Reason, config: ConfigFile = None, who: Actor = None, as_json: AsJson = False
) -> None:
    """Cancel the campaign and its open items; `retrigger` continues it.

    Example: switchyard campaign cancel spring --reason "wrong collection"
    """
    print_decided("cancel", name, _decided(config, "cancel", name, who, reason), as_json)


def retrigger(
    name: Name,
    *,
    failed: Annotated[
        bool, typer.Option("--failed", help="Retrigger the items that ended without success.")
    ] = False,
    reason: Reason,
    config: ConfigFile = None,
    who: Actor = None,
    as_json: AsJson = False,
) -> None:
    """Retrigger every item that ended without success, and open the campaign again.

    Example: switchyard campaign retrigger spring --failed --reason "the disk is larger now"
    """
    refuse_all(failed)
    done = 0
    with connected(configured(config)) as connection:
        [[before]] = [row.values() for row in connection.execute(query("campaigns", "now")).fetchall()]
        values = {"name": name, "most": GROUP, "actor": who or actor(), "reason": reason, "before": before}
        values["cause"] = None
        while row := connection.execute(query("campaigns", "retrigger"), values).fetchone():
            done += row["retriggered"]
            if row["retriggered"] < GROUP:
                break
    print_retriggered(name, done, as_json)


def refuse_all(failed: bool) -> None:
    """Raise BadInput if `--failed` is missing."""
    if not failed:
        raise BadInput("--failed: say so, for only items that ended without success can be retriggered")


def print_retriggered(name: str, done: int, as_json: bool) -> None:
    """Print how many items run again."""
    print_json({"name": name, "retriggered": done}) if as_json else print(f"{done:,} retriggered.")


def _decided(config: ConfigFile, decision: str, name: str, who: str | None, reason: str) -> bool:
    values: dict[str, Any] = {"name": name, "actor": who or actor(), "reason": reason}
    with connected(configured(config)) as connection:
        row = connection.execute(query("campaigns", decision), values).fetchone()
    if row is None:
        raise BadInput(f"there is no campaign {name!r}: `switchyard campaign list` shows them")
    return bool(row["changed"])


def print_decided(decision: str, name: str, changed: bool, as_json: bool) -> None:
    """Print the result of a decision."""
    if as_json:
        print_json({"name": name, "changed": changed})
    else:
        print(printable(f"{name} {WORDS[decision][not changed]}."))
