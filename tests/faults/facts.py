"""What there is after a round: the ledger, the receivers' counts, what is left lying about."""

import time
from collections import Counter
from collections.abc import Container
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from switchyard.places import Places
from tests.faults import openness
from tests.faults.yard import Yard

ACTIONS = """
    select a.action_uuid, a.action_name, a.workflow, a.callback, a.parent_uuid, a.idempotency_key, a.parameters,
      t.status::text, t.run, t.error, t.needs_review, t.ended_at is not null, t.callbacks_due,
      exists (select from switchyard.inbox i where i.action_uuid = a.action_uuid),
      exists (select from switchyard.event e where e.action_uuid = a.action_uuid and e.run = t.run
        and not e.ignored and e.status = t.status and e.detail ? 'archive'),
      a.correlation_id, a.member_of, (switchyard.reused(a.action_uuid, t.run) ->> 'action')::uuid
    from switchyard.action a left join switchyard.thread t using (action_uuid)
    where a.correlation_id is distinct from 'neighbour'
"""
NEIGHBOURS = """
    select a.action_uuid, t.ended_at is null from switchyard.action a join switchyard.thread t using (action_uuid)
    where a.correlation_id = 'neighbour'
"""
# Those of threads have the one-bigint form; the bell's and the others' are held by whoever lives.
LOCKS = """
    select format('%%s of %%s (process %%s, %%s since %%s)', coalesce(t.action_uuid::text, 'a lock without a thread'), a.application_name,
      l.pid, a.state, a.state_change)
    from pg_locks l join pg_database d on d.oid = l.database left join pg_stat_activity a using (pid)
    left join switchyard.thread t on t.lock_id = (l.classid::bigint << 32 | l.objid::bigint)
    where d.datname = current_database() and l.locktype = 'advisory' and l.objsubid = 1 and l.granted
"""
PASSING = (
    5.0  # seconds: a caboose that observes an end again locks its thread for as long as it takes to look
)
# Without those about messages and actions of hostile neighbours, who also forge the heartbeat of a conductor.
ENTRIES = """
    select i.kind, i.subject, coalesce(i.error, '') from switchyard.inbox i left join switchyard.journal j using (entry_id)
    where i.kind <> 'thread' and j.detail ->> 'correlation_id' is distinct from 'neighbour' and i.subject not in (
      select a.action_uuid::text from switchyard.action a where a.correlation_id = 'neighbour')
    and not (i.kind = 'message' and exists (
      select from switchyard.worker w where w.kind = 'conductor' and w.worker_id::text = j.detail ->> 'key'))
"""
UNNOTICED = """
    select kind, coalesce(action_name, ''), worker_id::text from switchyard.worker
    where ended_at is null and lost_at is null and beat_at < clock_timestamp() - interval '10 s' - 2 * rests
"""
# What limits count as in flight: all of it must be free once everything has ended.
SLOTS = """
    select format('lane %%s of %%s counts %%s in flight', lane, flow, in_flight) from switchyard.lane where in_flight <> 0
    union all select format('%%s counts %%s in flight', flow, in_flight) from switchyard.flow_state where in_flight <> 0
    union all select format('session %%s of %%s lists %%s', session, flow, cardinality(ids)) from switchyard.flow_session where ids <> '{}'
"""
TICKS = "select name, extract(epoch from tick_at)::bigint, outcome, action_uuid from switchyard.schedule_tick"
SCHEDULES = "select name, extract(epoch from next_at)::bigint, missed from switchyard.schedule"
LANES = "select action_uuid, coalesce(lane, '') from switchyard.action where action_name = 'laned'"
LOST = "select worker_id::text from switchyard.worker where lost_at is not null"
OPEN = """
    select (select count(*) from switchyard.yard) + (select count(*) from switchyard.thread where callbacks_due)
"""


@dataclass(frozen=True, slots=True)
class Action:
    """An action and the state of its thread."""

    uuid: UUID
    name: str
    workflow: str | None
    callback: str | None
    parent: UUID | None
    key: str | None
    parameters: dict[str, Any]
    status: str
    run: int = 1
    error: str | None = None
    needs_review: bool = False
    ended: bool = True
    callbacks_due: bool = False
    in_inbox: bool = False
    archived: bool = False  # its end says that its record is in the store
    correlation: str | None = None
    member_of: UUID | None = None
    reused: UUID | None = None  # whose result it was given


@dataclass(frozen=True, slots=True)
class Tick:
    """What became of one tick of a schedule; times are in seconds since 1970."""

    schedule: str
    at: int
    outcome: str
    action: UUID | None


@dataclass(frozen=True)
class Facts:
    """Everything that the invariants are about."""

    actions: dict[UUID, Action]
    contradictions: list[str] = field(default_factory=list)
    locks: list[str] = field(default_factory=list)
    slots: list[str] = field(default_factory=list)
    entries: list[tuple[str, str, str]] = field(default_factory=list)
    lost: set[str] = field(default_factory=set)
    unnoticed: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    arrived: Counter[UUID] = field(default_factory=Counter)
    taken: Counter[UUID] = field(default_factory=Counter)
    starts: Counter[str] = field(default_factory=Counter)
    left_over: list[str] = field(default_factory=list)
    records_missing: list[UUID] = field(default_factory=list)
    strange_ends: list[str] = field(default_factory=list)
    neighbours_open: int = 0
    trespasses: list[str] = field(default_factory=list)
    excesses: list[str] = field(default_factory=list)
    ticks: list[Tick] = field(default_factory=list)
    schedules: dict[str, tuple[int, int]] = field(
        default_factory=dict
    )  # the next tick, and how many it missed
    first_arrived: dict[UUID, float] = field(default_factory=dict)  # by the receivers' clock
    first_taken: dict[UUID, float] = field(default_factory=dict)


def gather(yard: Yard) -> Facts:
    """All of it, as it is now."""
    database = yard.database
    actions = {row[0]: Action(*row) for row in database.execute(ACTIONS)}
    neighbours = dict(database.execute(NEIGHBOURS))
    first = yard.receivers.first.copy()
    lost = {worker for (worker,) in database.execute(LOST)}  # before the inbox: one may be marked meanwhile
    return Facts(
        actions,
        contradictions=[str(row) for row in database.execute("select * from switchyard.verify()")],
        locks=lasting_locks(yard),
        slots=slots(yard),
        entries=[(kind, subject, error) for kind, subject, error in database.execute(ENTRIES)],
        lost=lost,
        unnoticed=unnoticed(yard),
        absent=yard.absent(),
        arrived=_by_uuid(yard.receivers.arrived, neighbours),
        taken=_by_uuid(yard.receivers.taken, neighbours),
        starts=Counter(yard.starts.read_text().splitlines()),
        left_over=yard.left_over(),
        records_missing=[a.uuid for a in actions.values() if a.archived and not _recorded(yard, a)],
        strange_ends=[end for program in yard.programs.values() for end in program.strange_ends],
        neighbours_open=sum(neighbours.values()),
        trespasses=yard.trespasses,
        excesses=_excesses(yard),
        ticks=[Tick(*row) for row in database.execute(TICKS)],
        schedules={name: (next_at, missed) for name, next_at, missed in database.execute(SCHEDULES)},
        first_arrived={_uuid(path): arrived for path, (arrived, _) in first.items()},
        first_taken={_uuid(path): taken for path, (_, taken) in first.items() if taken is not None},
    )


def settled(yard: Yard) -> bool:
    """Whether everything has come to its end, as far as can be seen."""
    ((still_open,),) = yard.database.execute(OPEN)
    troubles = (yard.absent, yard.left_over, lambda: unnoticed(yard), lambda: slots(yard))
    return still_open == 0 and not locks(yard) and not any(trouble() for trouble in troubles)


def locks(yard: Yard) -> list[str]:
    """The locks of threads that are held now, and by whom."""
    return [text for (text,) in yard.database.execute(LOCKS)]


def lasting_locks(yard: Yard) -> list[str]:
    """Those that are not given back within a few seconds."""
    deadline = time.monotonic() + PASSING
    while (held := locks(yard)) and time.monotonic() < deadline:
        time.sleep(0.25)  # until they are given back
    return held


def slots(yard: Yard) -> list[str]:
    """Slots of limits that are not free."""
    return [text for (text,) in yard.database.execute(SLOTS)]


def unnoticed(yard: Yard) -> list[str]:
    """Workers that are silent and that nobody has missed."""
    return [" ".join(row) for row in yard.database.execute(UNNOTICED)]


def _recorded(yard: Yard, action: Action) -> bool:
    return yard.store.size(Places(action.uuid, action.run).workflow) is not None


def _excesses(yard: Yard) -> list[str]:
    of_uuid = {str(uuid): lane for uuid, lane in yard.database.execute(LANES)}
    requests = yard.receivers.laned.requests
    lanes = openness.by_lane(
        requests, {each.path: of_uuid.get(each.path.split("/")[2], "") for each in requests}
    )
    return list(openness.excesses(lanes, yard.receivers.lapses))


def _by_uuid(paths: Counter[str], without: Container[UUID]) -> Counter[UUID]:
    counts: Counter[UUID] = Counter()
    for path, count in paths.copy().items():
        uuid = _uuid(path)
        if uuid not in without:
            counts[uuid] += count
    return counts


def _uuid(path: str) -> UUID:
    return UUID(path.split("/")[2])
