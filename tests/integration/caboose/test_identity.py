"""What is reported counts for its own action, run and program only; callbacks need their workflow."""

from uuid import UUID, uuid4

from switchyard.places import Places
from switchyard.sources import Beat, Observation
from switchyard.status import Status
from tests.integration.caboose.conftest import DONE, Worlds
from tests.integration.caboose.doing import nothing
from tests.integration.caboose.world import World


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


async def test_security_m1_a_workflows_callbacks_need_the_workflow(world: World) -> None:
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


async def test_security_m2_a_report_about_another_backends_action_counts_for_nothing(world: World) -> None:
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


async def test_security_l2_a_worker_report_touches_no_row_of_another_program(world: World) -> None:
    worker = uuid4()
    world.database.execute(
        "insert into switchyard.worker (worker_id, kind, host) values (%s, 'conductor', 'h')", worker
    )
    await world.tell(Beat(str(worker), "assessment", "ended", 0, 0, 0.0, nothing))
    assert world.database.execute("select kind, ended_at from switchyard.worker") == [("conductor", None)]
    assert len(world.inbox("message")) == 1


async def test_mission_b4_the_row_of_a_worker_has_its_action_name(world: World) -> None:
    await world.tell(Beat("w-1", "assessment", "started", 0, 0, 0.0, nothing))
    assert world.database.execute("select kind, action_name from switchyard.worker") == [
        ("assessment", "run")
    ]
