"""A set of many members ends once, soon after the last of them, whoever is killed; and at what rate members end.

    python -m benchmarks.sets.members [--members 1000000] [--kill-every 15] [--drained 40000]

The members are the items of a campaign of no-ops. While they are submitted and run, one of two conductors and a
caboose is killed every few seconds. Before that, without kills: as many plain actions and as many members are drained.
"""

import argparse
import time
from typing import Any

from benchmarks.report import Figure, publish
from benchmarks.sets.fleet import PATIENCE, Fleet, fleet
from tests.waiting import until

PAGE = 10_000
MOST_IN_FLIGHT = 100_000
START = 'select switchyard.start_campaign(%s, \'{}\', %s, action_name => \'work\', callbacks => \'[{"name": "over", "action": "work"}]\')'
FEED = """
    select switchyard.feed(%(campaign)s, case when %(first)s > 0 then jsonb_build_object('place', %(first)s::integer) else '{}' end,
      (select jsonb_agg(jsonb_build_object('id', n::text, 'parameters', jsonb_build_object('n', n)))
       from generate_series(%(first)s::integer, %(beyond)s::integer - 1) as n),
      jsonb_build_object('place', %(beyond)s::integer), %(last)s)
"""
OPEN = "select count(*) from switchyard.yard where action_name = 'work'"
PLAIN = "insert into switchyard.action (action_name) select 'work' from generate_series(1, %s)"
LAST_END = """
    select max(t.ended_at), count(*) filter (where t.status = 'SUCCESSFUL')
    from switchyard.action a join switchyard.thread t using (action_uuid) where a.member_of = %s
"""
ENDS = "select event_time from switchyard.event where action_uuid = %s and status in ('SUCCESSFUL', 'FAILED') and not ignored"
CALLBACKS = "select switchyard.uuid_time(action_uuid) from switchyard.action where parent_uuid = %s"


def campaign(on: Fleet, name: str, members: int) -> Any:
    """Start and feed it; its id."""
    [(uuid,)] = on.connection.execute(START, [name, MOST_IN_FLIGHT]).fetchall()
    for first in range(0, members, PAGE):
        beyond = min(first + PAGE, members)
        values = {"campaign": uuid, "first": first, "beyond": beyond, "last": beyond == members}
        on.connection.execute(FEED, values)
    return uuid


def drained(on: Fleet, count: int) -> float:
    """Actions a second, from the moment when they may start."""
    until(lambda: on.connection.execute(OPEN).fetchone() == (count,), PATIENCE)
    on.connection.execute("vacuum analyze")
    on.connection.execute("select switchyard.resume('work', 'benchmark', 'filled')")
    began = time.monotonic()
    until(lambda: on.connection.execute(OPEN).fetchone() == (0,), PATIENCE)
    return count / (time.monotonic() - began)


def end_rates(on: Fleet, count: int) -> tuple[float, float]:
    """Of plain actions, and of members."""
    pause = "select switchyard.pause('work', 'benchmark', 'is being filled')"
    on.connection.execute(pause)
    on.connection.execute(PLAIN, [count])
    plain = drained(on, count)
    on.connection.execute(pause)
    campaign(on, "drained", count)
    members = drained(on, count)
    on.until_ended("drained")
    return plain, members


def one_end(on: Fleet, members: int, kill_every: float) -> list[Figure]:
    """The campaign of all members, with kills."""
    began = time.monotonic()
    with on.tended(kill_every, seed=members) as victims:
        uuid = campaign(on, "many", members)
        on.until_ended("many")
        until(lambda: on.connection.execute(CALLBACKS, [uuid]).fetchall(), PATIENCE)
    took = time.monotonic() - began
    time.sleep(2)  # for a second callback, if there were one
    called = on.connection.execute(CALLBACKS, [uuid]).fetchall()
    [(last, successful)] = on.connection.execute(LAST_END, [uuid]).fetchall()
    ends = on.connection.execute(ENDS, [uuid]).fetchall()
    return [
        Figure("members", members, ""),
        Figure("members that were successful", successful, "", at_least=members, at_most=members),
        Figure("programs killed", len(victims), ""),
        on.ended_by_themselves(),
        Figure("members a second, submitted and ended", members / took, "/s"),
        Figure("ends of the set", len(ends), "", at_least=1, at_most=1),
        Figure("callbacks of the set", len(called), "", at_least=1, at_most=1),
        Figure("from the last end to the set's", (ends[0][0] - last).total_seconds(), "s", at_most=1),
        Figure("from the last end to the callback", (called[0][0] - last).total_seconds(), "s", at_most=1),
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--members", type=int, default=1_000_000)
    parser.add_argument("--kill-every", type=float, default=15.0, help="seconds; 0: nobody is killed")
    parser.add_argument("--drained", type=int, default=40_000, help="actions for the rates; at most 100,000")
    chosen = parser.parse_args()
    if chosen.drained > MOST_IN_FLIGHT:
        parser.error(f"--drained: at most {MOST_IN_FLIGHT:,}")
    with fleet({"type": "noop"}) as on:
        on.start()
        plain, members = end_rates(on, chosen.drained)
        print(f"ended per second: {plain:,.0f} plain actions, {members:,.0f} members", flush=True)
        figures = one_end(on, chosen.members, chosen.kill_every)
    publish("Sets", [
        Figure("plain actions ended", plain, "/s"),
        Figure("members of a set ended", members, "/s"),
        Figure("ratio", members / plain, "x"),
        *figures,
    ])  # fmt: skip


if __name__ == "__main__":
    main()
