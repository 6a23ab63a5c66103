"""Whether what `why` estimates holds: a simulated fleet with mixed workflows, looked at in one moment, and when each action then ended.

python -m benchmarks.ledger.estimates --simulations 100

Actions of four workflows, whose durations are log-normal with medians from 5 s to 200 s, arrive for hours at a backend with a
limited number of places: in one third of the simulations fewer than can be served, in one third about as many, in one third more. At the moment
of the look the past is written into the ledger, as the programs would have left it; the future stays in the simulation. What is
estimated in one look depends on the same future, so of each a few are asked for, chosen at random.
"""

import argparse
import heapq
import random
import sys
import time
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import psycopg

from benchmarks.report import Figure, publish
from benchmarks.server import fresh, server
from switchyard.ledger import migrate

WORKFLOWS = {"tiny": (5, 0.5, 8), "small": (20, 0.7, 6), "medium": (60, 0.4, 4), "large": (200, 0.6, 1)}
PLACES = 20
PAST = 3 * 3600  # seconds before the look
ARRIVALS = (0.47, 0.54, 0.6)  # per second; the places serve 0.54
ASKED = 20  # waiting and running ones, of each look

CLEAR = "truncate switchyard.action, switchyard.thread, switchyard.event, switchyard.yard, switchyard.activity, switchyard.worker"
WORKER = "insert into switchyard.worker (kind, action_name, host, slots) values ('conductor', 'sim', 'h', 20)"
ACTIONS = """
with job as materialized (
  select switchyard.uuid7(now() - make_interval(secs => j.age)) as uuid, j.* from unnest(
    %(age)s::float8[], %(workflow)s::text[], %(status)s::switchyard.status[], %(started)s::float8[], %(ended)s::float8[])
    with ordinality as j (age, workflow, status, started, ended, place)
), action as (
  insert into switchyard.action (action_uuid, action_type, action_name, workflow) select uuid, 'workflow', 'sim', workflow from job
), thread as (
  insert into switchyard.thread (action_uuid, created_at, action_name, priority, status, attempt, started_at, ended_at)
  select uuid, now() - make_interval(secs => age), 'sim', 100, status, 1,
    now() - make_interval(secs => started), now() - make_interval(secs => ended) from job
), yard as (
  insert into switchyard.yard (action_uuid, action_name, priority, status, run, attempt, lock_id)
  select uuid, 'sim', 100, status, 1, 1, switchyard.uuid_lock(uuid) from job where ended is null
)
select array_agg(uuid order by place) from job
"""
ACTIVITY = """
insert into switchyard.activity
select date_trunc('minute', now() - make_interval(secs => s)), 'sim', w.worker_id, count(*), 0, 1
from unnest(%s::float8[]) as s, switchyard.worker w group by 1, w.worker_id
"""
ASK = "select u, switchyard.why_detail(u) -> 'estimate' from unnest(%s::uuid[]) as u"


@dataclass
class Job:
    """One action of the simulation; times in seconds, the look is at 0."""

    workflow: str
    arrived: float
    started: float = 0.0
    ended: float = 0.0

    @property
    def status(self) -> str:
        return "SUCCESSFUL" if self.ended < 0 else "QUEUED" if self.started < 0 else "PENDING"


@dataclass
class Tally:
    """How many estimates were made, and how many actions ended before, within and after their interval."""

    before: int = 0
    within: int = 0
    after: int = 0

    def add(self, estimate: dict[str, float], ended: float) -> None:
        self.before += ended < estimate["low_seconds"]
        self.after += ended > estimate["high_seconds"]
        self.within += estimate["low_seconds"] <= ended <= estimate["high_seconds"]

    @property
    def made(self) -> int:
        return self.before + self.within + self.after

    @property
    def share(self) -> float:
        """Of those that ended within it, in percent."""
        return 100 * self.within / max(1, self.made)


@dataclass
class Held:
    """Of those that waited at the look, and of those that ran."""

    waiting: Tally = field(default_factory=Tally)
    running: Tally = field(default_factory=Tally)

    def figures(self) -> list[Figure]:
        """With the goals."""
        return [
            Figure("estimates in line", self.waiting.made, "", at_least=100),
            Figure("in line: ended within the 80 % interval", self.waiting.share, "%", at_least=70, at_most=90),
            Figure("estimates of running", self.running.made, "", at_least=100),
            Figure("running: ended within the 80 % interval", self.running.share, "%", at_least=70, at_most=90),
        ]  # fmt: skip


def jobs(chance: random.Random, rate: float) -> list[Job]:
    """First come, first served, by PLACES."""
    names = list(WORKFLOWS)
    weights = [weight for _, _, weight in WORKFLOWS.values()]
    free = [float(-PAST)] * PLACES
    made, now = [], float(-PAST)
    while now < 0:
        job = Job(chance.choices(names, weights)[0], now)
        median, spread, _ = WORKFLOWS[job.workflow]
        job.started = max(now, heapq.heappop(free))
        job.ended = job.started + median * chance.lognormvariate(0, spread)
        heapq.heappush(free, job.ended)
        made.append(job)
        now += chance.expovariate(rate)
    return made


def write(connection: psycopg.Connection[Any], made: list[Job]) -> list[UUID]:
    """The actions as the ledger has them at the look."""
    connection.execute(WORKER)
    connection.execute(ACTIVITY, [[-job.started for job in made if -900 < job.started < 0]])
    columns = {
        "age": [-job.arrived for job in made],
        "workflow": [job.workflow for job in made],
        "status": [job.status for job in made],
        "started": [-job.started if job.started < 0 else None for job in made],
        "ended": [-job.ended if job.ended < 0 else None for job in made],
    }
    [(uuids,)] = connection.execute(ACTIONS, columns).fetchall()
    return list(uuids)


def look(connection: psycopg.Connection[Any], seed: int, held: Held) -> None:
    """One simulation, one look at some of what is open."""
    connection.execute(CLEAR)
    chance = random.Random(seed)
    made = jobs(chance, ARRIVALS[seed % len(ARRIVALS)])
    with connection.transaction():
        connection.execute("set local session_replication_role = replica")
        of_uuid = dict(zip(write(connection, made), made, strict=True))
        for status, tally in (("PENDING", held.waiting), ("QUEUED", held.running)):
            found = [uuid for uuid, job in of_uuid.items() if job.status == status]
            asked = chance.sample(found, min(ASKED, len(found)))
            for uuid, estimate in connection.execute(ASK, [asked]).fetchall():
                if estimate is not None:
                    tally.add(estimate, of_uuid[uuid].ended)


def coverage(connection: psycopg.Connection[Any], simulations: int) -> Held:
    """How often what was estimated held; prints the state every ten seconds."""
    held = Held()
    connection.execute("select switchyard.ensure_partitions(2)")
    printed = time.monotonic()
    for seed in range(simulations):
        look(connection, seed, held)
        if time.monotonic() > printed + 10:
            printed = time.monotonic()
            print(f"{seed + 1} of {simulations} simulations: {held}", file=sys.stderr, flush=True)
    connection.execute(CLEAR)
    return held


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--simulations", type=int, default=100)
    chosen = parser.parse_args()
    with server() as postgres, psycopg.connect(url := fresh(postgres), autocommit=True) as connection:
        migrate.upgrade(url)
        held = coverage(connection, chosen.simulations)
    publish(f"Estimates in {chosen.simulations} simulations", held.figures())


if __name__ == "__main__":
    main()
