"""A simulated fleet with mixed workflows: what `why` estimates at one moment, and when each action then ended.

Actions of four workflows, whose durations are log-normal with medians from 5 s to 200 s, arrive for hours at a backend with a
limited number of places. At the moment of the look the past is written into the ledger, as the programs would have left it; the
future stays in the simulation.
"""

import heapq
import random
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg

WORKFLOWS = {"tiny": (5, 0.5, 8), "small": (20, 0.7, 6), "medium": (60, 0.4, 4), "large": (200, 0.6, 1)}
PLACES = 20
PAST = 3 * 3600  # seconds before the look

CLEAR = "truncate switchyard.action, switchyard.thread, switchyard.event, switchyard.yard, switchyard.activity, switchyard.worker"
ACTION = """
with made as (
  insert into switchyard.action (action_uuid, action_type, action_name, workflow)
  select switchyard.uuid7(now() - make_interval(secs => %(age)s)), 'workflow', 'sim', %(workflow)s returning action_uuid
), thread as (
  insert into switchyard.thread (action_uuid, created_at, action_name, priority, status, attempt, started_at, ended_at)
  select action_uuid, now() - make_interval(secs => %(age)s), 'sim', 100, %(status)s::switchyard.status, 1,
    now() - make_interval(secs => %(started)s), now() - make_interval(secs => %(ended)s) from made
), yard as (
  insert into switchyard.yard (action_uuid, action_name, priority, status, run, attempt, lock_id)
  select action_uuid, 'sim', 100, %(status)s::switchyard.status, 1, 1, switchyard.uuid_lock(action_uuid) from made
  where %(ended)s::float8 is null
)
select action_uuid from made
"""
ACTIVITY = """
insert into switchyard.activity
select date_trunc('minute', now() - make_interval(secs => s)), 'sim', w.worker_id, count(*), 0, 1
from unnest(%s::float8[]) as s, switchyard.worker w group by 1, w.worker_id
"""


@dataclass
class Job:
    """One action of the simulation; times in seconds, the look is at 0."""

    workflow: str
    arrived: float
    started: float = 0.0
    ended: float = 0.0


@dataclass
class Held:
    """How many estimates were made, and the share of them that held, in percent."""

    waiting: int = 0
    waiting_held: int = 0
    running: int = 0
    running_held: int = 0

    @property
    def waiting_share(self) -> float:
        return 100 * self.waiting_held / max(1, self.waiting)

    @property
    def running_share(self) -> float:
        return 100 * self.running_held / max(1, self.running)


def jobs(chance: random.Random) -> list[Job]:
    """First come, first served, by PLACES; more arrive than can be served, so that a line is there."""
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
        now += chance.expovariate(0.53)
    return made


def write(connection: psycopg.Connection[Any], job: Job) -> UUID:
    """The action as the ledger has it at the look."""
    begun, over = job.started < 0, job.ended < 0
    values = {
        "age": -job.arrived,
        "workflow": job.workflow,
        "status": "SUCCESSFUL" if over else "QUEUED" if begun else "PENDING",
        "started": -job.started if begun else None,
        "ended": -job.ended if over else None,
    }
    [(uuid,)] = connection.execute(ACTION, values).fetchall()
    found: UUID = uuid
    return found


def look(connection: psycopg.Connection[Any], seed: int, held: Held) -> None:
    """One simulation, one look at everything that is open."""
    connection.execute(CLEAR)
    made = jobs(random.Random(seed))
    connection.execute(
        "insert into switchyard.worker (kind, action_name, host, slots) values ('conductor', 'sim', 'h', 20)"
    )
    with connection.transaction():
        connection.execute("set local session_replication_role = replica")
        written = [(job, write(connection, job)) for job in made if job.ended > -3600]
        connection.execute(ACTIVITY, [[-job.started for job in made if -900 < job.started < 0]])
        told = {
            uuid: connection.execute("select switchyard.why_detail(%s)", [uuid]).fetchall()[0][0]
            for job, uuid in written
            if job.ended >= 0
        }
    for job, uuid in written:
        estimate = told.get(uuid, {}).get("estimate")
        if estimate is None:
            continue
        holds = estimate["low_seconds"] <= job.ended <= estimate["high_seconds"]
        if job.started < 0:
            held.running, held.running_held = held.running + 1, held.running_held + holds
        else:
            held.waiting, held.waiting_held = held.waiting + 1, held.waiting_held + holds


def coverage(connection: psycopg.Connection[Any], simulations: int) -> Held:
    """How often what was estimated held."""
    held = Held()
    connection.execute("select switchyard.ensure_partitions(2)")
    for seed in range(simulations):
        look(connection, seed, held)
    return held
