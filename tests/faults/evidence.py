"""What the ledger has of the actions that a violation names, for whoever looks for the cause."""

from collections.abc import Sequence

from rich.console import Console

from tests.faults.invariants import Violation
from tests.faults.yard import Yard

MOST = 5
EVENTS = """
    select event_time::time(3)::text, status::text, run, attempt, source, ignored, left(error, 200), left(detail::text, 200)
    from switchyard.event where action_uuid = %s order by event_id
"""


def show_events(console: Console, yard: Yard, found: Sequence[Violation]) -> None:
    """The events of the first few; the programs' logs are in results/parts."""
    for uuid in list(dict.fromkeys(each.uuid for each in found if each.uuid))[:MOST]:
        console.print(f"events of {uuid}:", markup=False)
        for row in yard.database.execute(EVENTS, uuid):
            console.print("  ", *row, markup=False, highlight=False)
