"""One bad row, message, lock, path or workflow delays only itself. Each test has the id of the finding it closes."""

import asyncio
import json
import time
from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import sql

from caboose import isolate
from switchyard.errors import Transient
from switchyard.places import Places
from switchyard.sources import Beat, Notice, Observation, Seen
from switchyard.status import Status
from tests.integration.caboose.conftest import DONE, FLOWS, Worlds
from tests.integration.caboose.world import World

BIG_NUMBER = '{"a": 1e5000}'
DEEP = '{"a": ' + "[" * 3000 + "]" * 3000 + "}"


def recorded(world: World, uuids: list[UUID]) -> list[str]:
    return [world.thread(uuid)["status"] for uuid in uuids]


def ended_by_others(world: World, parameters: str = "{}", workflow: str | None = "flow", **more: Any) -> UUID:
    """An action that somebody cancelled: its callbacks are the due sweep's."""
    (row,) = world.database.execute(
        "select switchyard.submit(%s, %s, workflow => %s, callbacks => %s)",
        *(more.get("name", "run"), parameters, workflow, more.get("callbacks")),
    )
    uuid = UUID(str(row[0]))
    world.database.execute("select switchyard.cancel(%s, 'ann', 'no more')", uuid)
    return uuid


@pytest.fixture
def unchecked(world: World) -> None:
    """Rows as they were accepted before there were constraints on what Python can read."""
    with world.database.connect() as connection:
        found = connection.execute(
            "select conname from pg_constraint where conrelid = 'switchyard.action'::regclass and contype = 'c' "
            "and (conname like 'parameters%' or conname like 'callbacks%')"
        ).fetchall()
        for (name,) in found:
            drop = sql.SQL("alter table switchyard.action drop constraint {}").format(sql.Identifier(name))
            connection.execute(drop)


@pytest.mark.parametrize("parameters", [BIG_NUMBER, DEEP])
@pytest.mark.usefixtures("unchecked")
async def test_hole_3_one_end_that_cannot_be_decoded_stops_no_other(world: World, parameters: str) -> None:
    poison = ended_by_others(world, parameters)
    others = [ended_by_others(world) for _ in range(3)]
    await world.due.run_once()
    assert [len(world.children(uuid)) for uuid in others] == [1, 1, 1]
    ((_, _, _, _, status),) = world.children(poison)
    assert status == "INVALID", "its callback is there to be seen"
    assert not world.thread(poison)["callbacks_due"]


@pytest.mark.parametrize("callbacks", ["[1e5000]", "[" * 3000 + "]" * 3000])
@pytest.mark.usefixtures("unchecked")
async def test_h2_own_callbacks_that_cannot_be_decoded_stop_no_other(world: World, callbacks: str) -> None:
    poison = world.queued(world.submit())
    world.database.execute(
        "update switchyard.action set callbacks = %s where action_uuid = %s", callbacks, poison
    )
    other = world.queued(world.submit())
    for uuid in (poison, other):
        world.exited(uuid, output={"n": 1})
    await world.tell()
    assert recorded(world, [poison, other]) == ["SUCCESSFUL", "SUCCESSFUL"]
    assert sorted(child[4] for child in world.children(poison)) == ["INVALID", "PENDING"]
    assert [child[4] for child in world.children(other)] == ["PENDING"]


async def test_hole_3_an_end_whose_partition_was_dropped_gets_its_callbacks(world: World) -> None:
    uuid = ended_by_others(world)
    world.database.execute(
        "update switchyard.thread set ended_at = now() - interval '400 days' where action_uuid = %s", uuid
    )
    await world.due.run_once()
    assert len(world.children(uuid)) == 1


async def test_hole_3_whatever_one_end_raises_is_reported_and_the_next_goes_on(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = ended_by_others(world), ended_by_others(world)
    insert = world.services.callbacks.insert

    async def broken(queries: Any, runs: Mapping[UUID, int], outputs: Any) -> Any:
        if first in runs:
            raise ZeroDivisionError("surprise")
        return await insert(queries, runs, outputs)

    monkeypatch.setattr(type(world.services.callbacks), "insert", lambda _, *given: broken(*given))
    await world.due.run_once()
    assert (len(world.children(first)), len(world.children(second))) == (0, 1)
    ((subject, error),) = world.inbox("callbacks")
    assert subject == str(first)
    assert "surprise" in error


REGEX = {"path": "$.input[?match(@, '(a|aa)+b')]"}
TOWER = {"path": "$.input['s']" + "[*,*,*,*,*,*,*,*,*,*]" * 9}


@pytest.mark.parametrize("path", [REGEX, TOWER])
async def test_hole_2_a_path_without_end_fails_its_own_callback_and_no_other(
    world: World, path: dict[str, str]
) -> None:
    own = [{"name": "own", "action": "hook", "parameters": {"x": path}}]
    parameters = {"n": "a" * 60, "s": [[[[[[[[[[1]]]]]]]]]] * 10}
    hostile = world.queued(world.submit(parameters=parameters, callbacks=own))
    other = world.queued(world.submit())
    for uuid in (hostile, other):
        world.exited(uuid, output={"n": 1})
    lag = asyncio.create_task(_longest_pause())
    await world.tell()
    assert recorded(world, [hostile, other]) == ["SUCCESSFUL", "SUCCESSFUL"]
    assert {child[0]: child[4] for child in world.children(hostile)} == {"done": "PENDING", "own": "INVALID"}
    lag.cancel()
    assert await lag < 1.0, "the event loop was never blocked"


async def test_h3_a_configured_filter_finds_the_same_as_in_place(worlds: Worlds) -> None:
    each = {
        "name": "each",
        "action": "hook",
        "for": "items",
        "items": "$.output.list[?@.n > 1]",
        "parameters": {
            "n": {"path": "$.item.n"},
            "all": {"path": "$.output..n"},
            "d": {"path": "$.x", "default": 5},
        },
    }
    world = await worlds({"flow": {"action": "run", "callbacks": [each]}})
    uuid = world.queued(world.submit())
    world.exited(uuid, output={"list": [{"n": 1}, {"n": 2}, {"n": 3}]})
    await world.tell()
    assert [child[3] for child in world.children(uuid)] == [
        {"item": {"n": n}, "n": n, "all": [1, 2, 3], "d": 5} for n in (2, 3)
    ]


async def test_h4_a_schema_that_takes_for_ever_fails_its_own_workflow_only(worlds: Worlds) -> None:
    pattern = r"^([a-zA-Z0-9]+[._-]?)+@example\.org$"
    world = await worlds({**FLOWS, "slow": {"action": "run", "output_schema": {"pattern": pattern}}})
    hostile, other = world.queued(world.submit("slow")), world.queued(world.submit())
    world.exited(hostile, output="a" * 40)
    world.exited(other, output={"n": 1})
    lag = asyncio.create_task(_longest_pause())
    await world.tell()
    assert recorded(world, [hostile, other]) == ["FAILED", "SUCCESSFUL"]
    assert "exceeded its limit of CPU time" in world.thread(hostile)["error"]
    lag.cancel()
    assert await lag < 1.0


async def test_hole_8_callbacks_of_an_unknown_workflow_stay_due_until_the_configuration_has_it(
    worlds: Worlds,
) -> None:
    old = await worlds({"flow": {"action": "run", "callbacks": [DONE]}})
    uuid = old.queued(old.submit("new"))
    old.exited(uuid, output={"n": 7})
    await old.tell()
    await old.due.run_once()
    assert old.thread(uuid)["status"] == "SUCCESSFUL"
    assert old.thread(uuid)["callbacks_due"]
    ((subject, error),) = old.inbox("unknown_workflow")
    assert subject == "new"
    assert "configuration does not have it" in error
    reloaded = await worlds({"new": {"action": "run", "callbacks": [DONE]}})
    await reloaded.due.run_once()
    assert [child[3] for child in reloaded.children(uuid)] == [{"n": 7}]
    assert reloaded.inbox("unknown_workflow") == []


async def test_hole_9_a_run_never_gets_the_output_of_another(world: World) -> None:
    uuid = world.queued(world.submit())
    world.database.execute("select switchyard.cancel(%s, 'ann', 'no more')", uuid)
    await world.due.run_once()
    world.database.execute("select switchyard.retrigger(%s, 'ann', 'again')", uuid)
    world.event(uuid, "QUEUED", 2, 1)
    for run in (1, 2):
        world.exited(uuid, run=run, output={"n": run})
    seen = sorted(world.source._scan(), key=lambda each: getattr(each, "run", 0))
    await world.tell(*reversed(seen))
    assert [child[3] for child in world.children(uuid)] == [{"n": 2}, {"n": None}], "of run 2, of the cancel"


async def test_hole_11_ends_that_cannot_be_followed_up_do_not_starve_those_behind_them(
    worlds: Worlds, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = await worlds({**FLOWS, "plain": {"action": "hook", "callbacks": [DONE]}}, caboose={"batch": 5})
    stuck = [ended_by_others(world) for _ in range(12)]
    behind = ended_by_others(world, workflow="plain", name="hook")
    asked: list[UUID] = []

    async def no_answer(uuid: UUID, *_: Any) -> None:
        asked.append(uuid)
        raise Transient("no answer")

    monkeypatch.setattr(world.source, "stop_execution", no_answer)
    await whole_pass(world)
    assert len(world.children(behind)) == 1
    assert len(asked) == 1, "a source that does not answer is asked once in a pass"
    monkeypatch.undo()
    await whole_pass(world)
    assert [len(world.children(uuid)) for uuid in stuck] == [1] * 12


@pytest.mark.parametrize("table", ["thread", "yard"])
async def test_hole_18_one_locked_row_delays_only_itself(world: World, table: str) -> None:
    uuids = [world.queued(world.submit()) for _ in range(20)]
    for uuid in uuids:
        world.exited(uuid, output={"n": 1})
    with _locked(world, uuids[:10], table):
        began = time.monotonic()
        await world.tell()
        assert time.monotonic() - began < 10
        assert recorded(world, uuids) == ["QUEUED"] * 10 + ["SUCCESSFUL"] * 10
    await asyncio.sleep(
        1.2
    )  # not a wait for anything that signals: what is set aside comes again after a second
    await world.tell(Observation(uuids[0], 1, None))
    assert recorded(world, uuids) == ["SUCCESSFUL"] * 20


async def test_hole_18_a_locked_row_delays_no_progress_timeout_or_due_callback(worlds: Worlds) -> None:
    world = await worlds({**FLOWS, "late": {"action": "run", "timeout": "1s", "callbacks": [DONE]}})
    running = [world.queued(world.submit()) for _ in range(3)]
    late = [world.queued(world.submit("late")) for _ in range(3)]
    world.database.execute("update switchyard.thread set started_at = now() - interval '1 hour'")
    due = [ended_by_others(world) for _ in range(3)]
    with _locked(world, [running[0], late[0], due[0]], "thread"):
        await world.tell(*(Observation(uuid, 1, Status.RUNNING) for uuid in running))
        await world.timeouts.run_once()
        await world.due.run_once()
    assert recorded(world, running) == ["QUEUED", "RUNNING", "RUNNING"]
    assert recorded(world, late) == ["QUEUED", "TIMED_OUT", "TIMED_OUT"]
    assert [len(world.children(uuid)) for uuid in due] == [0, 1, 1]


async def test_holes_22_30_31_an_observation_that_cannot_be_processed_stops_no_other(world: World) -> None:
    good = world.queued(world.submit())
    world.exited(good, output={"n": 1})
    odd: list[Seen] = [
        Observation(good, 2**40, Status.RUNNING),
        Observation(uuid4(), -1, Status.SUCCESSFUL),
        Observation("no uuid", 1, Status.FAILED),  # type: ignore[arg-type]
        Observation({"no": "uuid"}, [1], {}),  # type: ignore[arg-type]
        Observation(good, 1, "RUNNING", detail=None),  # type: ignore[arg-type]
        Observation(good, 1, Status.INFO, detail={"x": object(), "y": float("nan")}),
        Observation(good, 1, Status.INFO, error="\0\ud800"),
        Beat("w" * 500, "assessment", "beat", 2**70, 0, float("inf"), _nothing),
    ]
    await world.tell(*odd, *world.source._scan())
    assert world.thread(good)["status"] == "SUCCESSFUL"
    assert world.inbox("message") or world.inbox("end") or world.inbox("progress")


async def test_a_source_that_never_answers_delays_only_what_it_was_asked_about(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[UUID] = []

    async def never(uuid: UUID, *_: Any) -> None:
        asked.append(uuid)
        await asyncio.Event().wait()

    stray = [world.queued(world.submit()) for _ in range(5)]
    good = world.queued(world.submit())
    for uuid in stray:
        world.database.execute("select switchyard.cancel(%s, 'ann', 'no more')", uuid)
    world.exited(good, output={"n": 1})
    monkeypatch.setattr(isolate, "ANSWER", 0.2)
    monkeypatch.setattr(world.source, "stop_execution", never)
    await world.tell(*(Observation(uuid, 1, Status.RUNNING) for uuid in stray), *world.source._scan())
    assert world.thread(good)["status"] == "SUCCESSFUL"
    assert len(asked) == 1, "the others wait apart"
    await whole_pass(world)
    assert len(asked) == 2


async def test_hole_30_a_log_that_cannot_be_read_does_not_keep_an_end_from_being_recorded(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unreadable(_: Observation) -> bytes:
        raise PermissionError("log.txt")

    uuid = world.queued(world.submit())
    world.exited(uuid, output={"n": 1})
    monkeypatch.setattr(world.source, "log", unreadable)
    await world.tell()
    assert world.thread(uuid)["status"] == "SUCCESSFUL"
    assert b"could not be read" in world.store.get(Places(uuid, 1).log)


async def test_refused_ends_do_not_fill_the_intake(worlds: Worlds) -> None:
    """More refused ends than the intake has room for, and one that is fine behind them."""
    world = await worlds(FLOWS, caboose={"batch": 2})
    world.intake._room = 4
    refused = [world.queued(world.submit()) for _ in range(8)]
    world.database.execute(
        "create function public.refuse_some() returns trigger language plpgsql as"
        " $$ begin if new.detail ? 'refuse' then raise exception 'not this one'; end if; return new; end $$"
    )
    world.database.execute(
        "create trigger refuse before insert on switchyard.event for each row execute function public.refuse_some()"
    )
    seen = [Observation(uuid, 1, Status.FAILED, detail={"refuse": True}) for uuid in refused]
    good = world.queued(world.submit())
    await world.tell(*seen, Observation(good, 1, Status.SUCCESSFUL))
    assert world.thread(good)["status"] == "SUCCESSFUL"
    assert len(world.inbox("end")) == 8


async def test_hole_28_items_that_are_too_large_end_invalid_without_being_sent(
    worlds: Worlds, monkeypatch: pytest.MonkeyPatch
) -> None:
    each = {
        "name": "each",
        "action": "hook",
        "for": "items",
        "items": "$.output.features[*]",
        "parameters": {"all": {"path": "$.output"}},
    }
    world = await worlds({"flow": {"action": "run", "callbacks": [each]}})
    uuid = world.queued(world.submit())
    world.exited(uuid, output={"features": list(range(500)), "text": "x" * 3_000_000})
    sent: list[int] = []
    insert = world.queries.insert_callbacks

    async def counted(pairs: Any) -> Any:
        sent.append(sum(len(json.dumps(planned.parameters)) for _, planned in pairs))
        return await insert(pairs)

    monkeypatch.setattr(world.queries, "insert_callbacks", counted)
    await world.tell()
    assert sum(sent) < 10_000, "measured before anything is encoded"
    rows = world.database.execute(
        "select t.status::text, count(*), max(length(a.parameters::text)) from switchyard.action a "
        "join switchyard.thread t using (action_uuid) where a.parent_uuid = %s group by 1",
        uuid,
    )
    assert rows == [("INVALID", 500, 2)]


async def test_m7_one_submit_makes_no_thousand_times_its_size(world: World) -> None:
    own = [
        {
            "name": "own",
            "action": "hook",
            "for": "items",
            "items": "$.input.list[*]",
            "parameters": {"s": {"path": "$.input.s"}},
        }
    ]
    uuid = ended_by_others(
        world,
        json.dumps({"s": "x" * 100_000, "list": list(range(1000))}),
        None,
        name="hook",
        callbacks=json.dumps(own),
    )
    await world.due.run_once()
    ((made, size),) = world.database.execute(
        "select count(*), sum(length(parameters::text)) from switchyard.action where parent_uuid = %s", uuid
    )
    assert made < 200
    assert size < 9_000_000
    ((error,),) = world.database.execute(
        "select t.error from switchyard.thread t join switchyard.action a using (action_uuid) "
        "where a.parent_uuid = %s and t.status = 'INVALID'",
        uuid,
    )
    assert "the callbacks from here on were not made" in error


async def test_m1_a_workflows_callbacks_need_the_workflow(world: World) -> None:
    (row,) = world.database.execute("select switchyard.submit('hook', '{}', workflow => 'flow')")
    uuid = UUID(str(row[0]))
    world.database.execute(
        "insert into switchyard.event (action_uuid, status, source) values (%s, 'SUCCESSFUL', 'conductor')",
        uuid,
    )
    await world.due.run_once()
    assert world.children(uuid) == []
    ((subject, error),) = world.inbox("callbacks")
    assert subject == "flow"
    assert "it runs as run" in error


async def test_m2_a_report_about_another_backends_action_counts_for_nothing(world: World) -> None:
    (row,) = world.database.execute(
        "select switchyard.submit('hook', '{}', start_after => now() + interval '1 hour')"
    )
    uuid = UUID(str(row[0]))
    await world.tell(Observation(uuid, 1, Status.SUCCESSFUL, record=b"{}"))
    assert world.thread(uuid)["status"] == "PENDING"
    assert world.store.size(Places(uuid, 1).workflow) is None
    ((subject, error),) = world.inbox("strange_run")
    assert subject == str(uuid)
    assert "was not handed over to it" in error


async def test_progress_of_what_is_not_handed_over_does_not_come_for_ever(world: World) -> None:
    """An end waits for the handover; progress that was delivered often is acknowledged, and no inbox entry."""
    uuid = world.submit()
    acknowledged: list[str] = []

    async def acknowledge() -> None:
        acknowledged.append("progress")

    often = Notice("queue", "delivered 6 times, never recorded", "k", {}, _nothing)
    await world.tell(
        Observation(uuid, 1, Status.RUNNING, poison=often, acknowledge=acknowledge),
        Observation(uuid, 1, Status.SUCCESSFUL, poison=often),
    )
    assert acknowledged == ["progress"]
    assert world.inbox("message") == []
    assert world.intake.waiting == 1
    assert world.thread(uuid)["status"] == "PENDING"


async def test_l2_a_worker_report_touches_no_row_of_another_program(world: World) -> None:
    worker = uuid4()
    world.database.execute(
        "insert into switchyard.worker (worker_id, kind, host) values (%s, 'conductor', 'h')", worker
    )
    await world.tell(Beat(str(worker), "assessment", "ended", 0, 0, 0.0, _nothing))
    assert world.database.execute("select kind, ended_at from switchyard.worker") == [("conductor", None)]
    assert len(world.inbox("message")) == 1


async def test_b4_the_row_of_a_worker_has_its_action_name(world: World) -> None:
    await world.tell(Beat("w-1", "assessment", "started", 0, 0, 0.0, _nothing))
    assert world.database.execute("select kind, action_name from switchyard.worker") == [
        ("assessment", "run")
    ]


async def whole_pass(world: World) -> None:
    while await world.due.run_once() == 0.0:
        continue


class _locked:  # noqa: N801 - a context manager
    """Somebody's open transaction over these rows."""

    def __init__(self, world: World, uuids: list[UUID], table: str) -> None:
        self._connection: psycopg.Connection[Any] = psycopg.connect(world.database.url)
        self._connection.execute(
            sql.SQL("select from switchyard.{} where action_uuid = any (%s) for update").format(
                sql.Identifier(table)
            ),
            [uuids],
        )

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        self._connection.rollback()
        self._connection.close()


async def _longest_pause() -> float:
    """The longest time that the event loop took between two turns, until it is cancelled."""
    longest = 0.0
    last = time.monotonic()
    try:
        while True:
            await asyncio.sleep(0.01)
            now = time.monotonic()
            longest, last = max(longest, now - last), now
    except asyncio.CancelledError:
        return longest


async def _nothing() -> None:
    """Acknowledges nothing."""
