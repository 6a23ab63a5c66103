"""Callbacks of all kinds, from the configuration and from the action itself, each exactly once."""

import asyncio
import json
import tracemalloc
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from switchyard.backends.prepare import PreparedWorkflow, prepare
from switchyard.backends.threads import Threads
from switchyard.handlers import HandlerContext, Work
from switchyard.places import Places
from switchyard.process.otel import span_id, trace_id
from tests.integration.caboose.conftest import Worlds
from tests.integration.caboose.world import World
from tests.parts.spans import kept_spans

FLOWS: dict[str, Any] = {
    "flow": {
        "action": "run",
        "callbacks": [
            {"name": "done", "action": "hook", "when": ["SUCCESSFUL", "FAILED"]},
            {
                "name": "each",
                "action": "stac",
                "when": ["SUCCESSFUL"],
                "for": "items",
                "items": "$.output.features[?@.n > 0]",
            },
            {
                "name": "next",
                "action": "run",
                "workflow": "report",
                "when": ["SUCCESSFUL"],
                "input": {"path": "$.output"},
            },
            {
                "name": "sorry",
                "action": "hook",
                "when": ["failed"],
                "parameters": {"why": {"path": "$.workflow.error"}},
            },
        ],
    },
    "report": {"action": "run"},
    "many": {"action": "run", "callbacks": [{"name": "each", "action": "stac", "for": "items"}]},
}


@pytest.fixture
async def world(worlds: Worlds) -> World:
    return await worlds(FLOWS)


async def test_summary_items_and_chain(world: World) -> None:
    uuid = world.queued(world.submit())
    output = {
        "summary": {"n": 3},
        "features": [{"id": "a", "n": 1}, {"id": "b", "n": 0}, {"id": "c", "n": 2}],
    }
    world.exited(uuid, output=output)
    await world.tell()
    done, first, second, chained = world.children(uuid)
    assert done[:2] == ("done", "hook")
    assert done[3]["summary"] == {"n": 3}
    assert done[3]["workflow"]["status"] == "SUCCESSFUL"
    assert done[3]["workflow"]["correlation_id"] == "c-1"
    assert [each[3] for each in (first, second)] == [
        {"item": {"id": "a", "n": 1}},
        {"item": {"id": "c", "n": 2}},
    ]
    assert chained == ("next", "run", "report", output, "PENDING")
    rows = world.database.execute(
        "select distinct action_type, correlation_id from switchyard.action where parent_uuid = %s "
        "order by action_type",
        uuid,
    )
    assert rows == [("callback", "c-1"), ("workflow", "c-1")]


async def test_a_failure_has_its_own_callbacks(world: World) -> None:
    uuid = world.queued(world.submit())
    world.exited(uuid, 65, stderr="no sites")
    await world.tell()
    assert [child[0] for child in world.children(uuid)] == ["done", "sorry"]
    assert world.children(uuid)[1][3] == {"why": "exit code 65: no sites"}


@pytest.mark.parametrize("status", ["INVALID", "RETRIES_EXHAUSTED", "CANCELED", "FAILED", "SUCCESSFUL"])
async def test_an_end_that_another_program_wrote_gets_its_callbacks_by_the_sweep(
    world: World, status: str
) -> None:
    uuid = world.submit()
    world.event(uuid, status, 1, 1)
    assert world.thread(uuid)["callbacks_due"]
    await world.due.run_once()
    expected = {"FAILED": ["done", "sorry"], "SUCCESSFUL": ["done", "next"]}.get(status, ["sorry"])
    assert [child[0] for child in world.children(uuid)] == expected
    assert not world.thread(uuid)["callbacks_due"]
    await world.due.run_once()
    assert len(world.children(uuid)) == len(expected)


async def test_newuser_6_the_callbacks_of_an_end_are_made_again_on_request(world: World) -> None:
    uuid = world.submit()
    world.event(uuid, "SUCCESSFUL", 1, 1)
    await world.due.run_once()
    assert [child[0] for child in world.children(uuid)] == ["done", "next"]
    again = "select switchyard.call_back(%s, 'ann', 'the address was wrong')"
    for round_ in (2, 3):
        assert world.database.execute(again, uuid) == [(True,)]
        assert world.database.execute(again, uuid) == [(False,)], "they are still due"
        await world.due.run_once()
        assert not world.thread(uuid)["callbacks_due"]
        await world.due.run_once()
        assert sorted(child[0] for child in world.children(uuid)) == ["done"] * round_ + ["next"] * round_
    assert world.thread(uuid)["status"] == "SUCCESSFUL"


async def test_newuser_6_a_repeat_that_dies_before_it_is_recorded_makes_the_same_actions(
    world: World,
) -> None:
    uuid = world.submit()
    world.event(uuid, "SUCCESSFUL", 1, 1)
    await world.due.run_once()
    world.database.execute("select switchyard.call_back(%s, 'ann', 'why')", uuid)
    await world.due.run_once()
    # As if the transaction that cleared it had been repeated by another caboose.
    world.database.execute("update switchyard.thread set callbacks_due = true where action_uuid = %s", uuid)
    await world.due.run_once()
    assert len(world.children(uuid)) == 4


def test_only_an_ended_action_is_called_back(world: World) -> None:
    with pytest.raises(
        psycopg.errors.ObjectNotInPrerequisiteState, match="only one that ended has callbacks"
    ):
        world.database.execute("select switchyard.call_back(%s, 'ann', 'why')", world.submit())


async def test_the_callers_own_callbacks_work_like_those_of_the_configuration(world: World) -> None:
    own = [
        {"name": "mine", "action": "hook", "when": ["SUCCESSFUL"], "parameters": {"x": {"path": "$.input.x"}}}
    ]
    uuid = world.queued(world.submit("report", {"x": 5}, callbacks=own))
    world.exited(uuid)
    await world.tell()
    assert world.children(uuid) == [("mine", "hook", None, {"x": 5}, "PENDING")]


@pytest.mark.parametrize(
    ("own", "reason"),
    [
        ({"name": "bad", "action": "hook", "for": "items", "items": "$.output["}, "JSONPath does not parse"),
        ({"name": "bad", "action": "hook", "surprise": 1}, "surprise"),
        ("bad", "callback cannot be read"),
        (
            {"name": "bad", "action": "run", "workflow": "report", "input": {"path": "$.output.n"}},
            "must be an object",
        ),
        (
            {"name": "bad", "action": "hook", "parameters": {"all": {"path": "$.output"}}},
            "larger than the 1 MiB",
        ),
    ],
)
async def test_a_callback_that_can_never_run_is_there_to_be_seen(world: World, own: Any, reason: str) -> None:
    uuid = world.queued(world.submit("report", callbacks=[own]))
    world.exited(uuid, output={"n": 1, "text": "x" * 1_100_000})
    await world.tell()
    assert world.thread(uuid)["status"] == "SUCCESSFUL"
    assert [child[4] for child in world.children(uuid)] == ["INVALID"]
    ((error, needs_review),) = world.database.execute(
        "select error, needs_review from switchyard.thread where status = 'INVALID'"
    )
    assert reason in error
    assert needs_review


async def test_an_output_too_deep_for_a_filter_is_there_to_be_seen_and_delays_no_other(world: World) -> None:
    own = {"name": "deep", "action": "hook", "for": "items", "items": "$.output..n"}
    uuid, other = world.queued(world.submit("report", callbacks=[own])), world.queued(world.submit())
    world.exited(uuid, output=b'{"n": 1, "a": ' + b"[" * 300 + b"]" * 300 + b"}")
    world.exited(other, output={"features": []})
    await world.tell()
    assert world.thread(uuid)["status"] == world.thread(other)["status"] == "SUCCESSFUL"
    assert world.children(uuid)[-1][4] == "INVALID"
    ((error,),) = world.database.execute("select error from switchyard.thread where status = 'INVALID'")
    assert "recursion limit" in error


async def test_a_chained_workflow_is_given_more_than_an_action_can_hold(world: World) -> None:
    output = {"summary": {}, "features": [], "numbers": list(range(300_000))}
    uuid = world.queued(world.submit())
    world.exited(uuid, output=output)
    await world.tell()
    ((child, parameters),) = world.database.execute(
        "select action_uuid, parameters from switchyard.action where callback = 'next'"
    )
    config = HandlerContext(world.config, world.store, {})
    job = Work(child, 1, 1, False, "run", "report", "next", uuid, parameters, None, datetime.now(UTC))
    prepared = await prepare(job, config, Threads(1))
    assert isinstance(prepared, PreparedWorkflow)
    assert prepared.parameters == output
    assert json.loads(world.store.get(Places(child, 1).input)) == output


async def test_texts_that_postgres_cannot_hold_lose_no_callback(world: World) -> None:
    uuid = world.queued(world.submit())
    output = b'{"summary": {"bad\\u0000key": "nul \\u0000 lone \\ud800 end"}, "features": []}'
    world.exited(uuid, output=output, stderr="\0bad\0")
    await world.tell()
    assert world.thread(uuid)["status"] == "SUCCESSFUL"
    assert "nul" in json.dumps(world.children(uuid)[0][3])


async def test_ten_thousand_items_in_bounded_memory(world: World) -> None:
    features = [{"id": number, "properties": {"text": "x" * 500}} for number in range(10_000)]
    uuid = world.queued(world.submit("many"))
    world.exited(uuid, output={"features": features})
    del features
    tracemalloc.start()
    await world.tell()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert world.database.execute("select count(*) from switchyard.action where parent_uuid = %s", uuid) == [
        (10_000,)
    ]
    assert peak < 60 * 2**20, "the output (6 MB) as objects, and one chunk of its callbacks"


async def test_two_cabooses_make_the_callbacks_once(worlds: Worlds) -> None:
    one, other = await worlds(FLOWS), await worlds(FLOWS)
    uuid = one.queued(one.submit())
    one.exited(uuid, output={"features": [{"n": 1}]})
    (seen,) = one.source._scan()
    for world in (one, other):
        await world.intake.put(seen)
    await asyncio.gather(one.completer.run_once(), other.completer.run_once())
    assert [child[0] for child in one.children(uuid)] == ["done", "each", "next"]


async def test_an_action_without_a_workflow_calls_back_too(world: World) -> None:
    own = [{"name": "after", "action": "hook", "parameters": {"id": {"value": str(uuid4())}}}]
    (row,) = world.database.execute(
        "select switchyard.submit('hook', '{}', callbacks => %s)", json.dumps(own)
    )
    world.event(row[0], "SUCCESSFUL", 1, 1)
    await world.due.run_once()
    assert [child[0] for child in world.children(row[0])] == ["after"]


async def test_the_end_and_what_follows_it_are_in_the_workflows_trace(world: World) -> None:
    uuid = world.queued(world.submit())
    world.exited(uuid, 65, stderr="no sites")
    with kept_spans() as spans:
        await world.tell()
    rows = world.database.execute("select action_uuid from switchyard.action where parent_uuid = %s", uuid)
    found = {(span.name, span.context.span_id) for span in spans if span.name == "submit"}
    assert found == {("submit", span_id(child)) for (child,) in rows}
    assert len(rows) == 2
    [outcome] = [span for span in spans if span.name == "outcome"]
    assert (outcome.attributes or {})["switchyard.status"] == "FAILED"
    assert {span.parent and span.parent.span_id for span in spans} == {span_id(uuid)}
    assert {span.context.trace_id for span in spans} == {trace_id(uuid, "c-1")}
