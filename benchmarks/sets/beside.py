"""Live work beside a campaign: how long from its commit until it starts, with and without the campaign.

    python -m benchmarks.sets.beside [--count 1000] [--items 200000] [--takes 1]

Both are of one action name. Live work takes 20 ms, an item --takes seconds. The campaign has the defaults: 100 items
in flight, behind other work by its priority; the conductor has 200 slots. With --takes 0.02 the campaign uses all
of a small machine's processors, and what is measured is that.
"""

import argparse
import json
import statistics
import time
from collections.abc import Sequence
from typing import Any

from benchmarks.latency import noting
from benchmarks.report import Figure, publish
from benchmarks.sets.fleet import Fleet, fleet
from benchmarks.sets.members import FEED, PAGE
from tests.waiting import until

START = "select switchyard.start_campaign('beside', '{}', 100, action_name => 'work', parameters => jsonb_build_object('seconds', %s::float))"
SUBMIT = "insert into switchyard.action (action_name, correlation_id) values ('work', 'live') returning action_uuid"
EVERY = 0.02
LIVE = """
    select count(*) from switchyard.yard y join switchyard.action a using (action_uuid) where a.correlation_id = 'live'
"""
STATE = "select status::text from switchyard.campaigns where name = 'beside'"


def submitted(on: Fleet, count: int) -> dict[str, float]:
    """When the commit of each live action returned."""
    committed = {}
    for _ in range(count):
        row = on.connection.execute(SUBMIT).fetchone()
        assert row is not None
        committed[str(row[0])] = time.monotonic()
        time.sleep(EVERY)
    return committed


def started(on: Fleet, count: int, takes: float) -> Any:
    """A campaign of this many items; its id."""
    [(campaign,)] = on.connection.execute(START, [takes]).fetchall()
    for first in range(0, count, PAGE):
        values = {
            "campaign": campaign,
            "first": first,
            "beyond": min(first + PAGE, count),
            "last": first + PAGE >= count,
        }
        on.connection.execute(FEED, values)
    return campaign


def figures(alone: Sequence[float], beside: Sequence[float]) -> list[Figure]:
    """The percentiles, and the goal."""
    made = []
    for place, cut in ((49, "p50"), (98, "p99")):
        before, after = (statistics.quantiles(values, n=100)[place] for values in (alone, beside))
        made += [Figure(f"{cut} alone", before, "ms"), Figure(f"{cut} beside a campaign", after, "ms")]
        made.append(Figure(f"{cut}, ratio", after / before, "x", at_most=1.5 if cut == "p99" else None))
    return made


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=1000, help="live actions, in each of the two parts")
    parser.add_argument(
        "--items", type=int, default=200_000, help="of the campaign; it must outlast the live actions"
    )
    parser.add_argument("--takes", type=float, default=1.0, help="seconds of an item")
    chosen = parser.parse_args()
    with fleet({"type": "noting_sleep", "concurrency": 200}, conductors=1) as on:
        noting.installed(on.folder)
        on.start()
        submitted(on, 100)
        alone = submitted(on, chosen.count)
        print("alone: submitted; now beside a campaign", flush=True)
        started(on, chosen.items, chosen.takes)
        time.sleep(2)
        beside = submitted(on, chosen.count)
        outlasted = on.connection.execute(STATE).fetchone() == ("RUNNING",)
        until(lambda: on.connection.execute(LIVE).fetchone() == (0,), every=0.1)
        for program in on.programs:
            program.stop()
        entered = json.loads((on.folder / "notes").read_text())
    assert outlasted, "the campaign ended before the live work: give it more --items"
    waits = [[1000 * (entered[uuid] - at) for uuid, at in part.items()] for part in (alone, beside)]
    publish("Live work beside a campaign", figures(*waits))


if __name__ == "__main__":
    main()
