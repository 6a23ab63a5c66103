"""`switchyard dismiss`."""

from typing import Annotated

import typer

from switchyard.cli.database import actor, configured, connected
from switchyard.cli.options import Actor, AsJson, ConfigFile, Reason
from switchyard.cli.output import print_json
from switchyard.ledger.queries import query


def dismiss(
    entries: Annotated[
        list[int],
        typer.Argument(metavar="ENTRY...", help="Numbers that the inbox shows.", min=1, max=2**63 - 1),
    ],
    *,
    reason: Reason,
    config: ConfigFile = None,
    who: Actor = None,
    as_json: AsJson = False,
) -> None:
    """Take entries that belong to no action out of the inbox: lost workers, unreadable messages.

    Example: switchyard dismiss 17 18 --reason "the host was taken down"
    """
    results = []
    with connected(configured(config)) as connection:
        for entry in entries:
            values = {"entry": entry, "actor": who or actor(), "reason": reason}
            row = connection.execute(query("decide", "dismiss"), values).fetchone()
            results.append({"entry_id": entry, "result": bool(row and row["changed"])})
    if as_json:
        print_json(results)
        return
    for each in results:
        done = "is out of the inbox" if each["result"] else "was not in the inbox"
        print(f"{each['entry_id']} {done}.")
