"""Workflows with steps: claimed like any action, then a graph with an output and callbacks of its own."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest

from switchyard.backends.graph.handler import GraphHandler
from switchyard.backends.graph.model import GraphAction
from switchyard.handlers import Failed, HandedOver, HandlerContext, Invalid, Retry, Success, Work
from switchyard.places import Places
from tests.integration.conductor.workflows import context, work
from tests.integration.sets.graphs import ends, settle, verified
from tests.integration.waiting.joins import Connection, end, ready, status
from tests.parts.database import Database

pytestmark = pytest.mark.database
WORKFLOWS = {
    "fetch": {"action": "noop"},
    "ndvi": {"action": "noop"},
    "scene": {
        "steps": {
            "fetch": {"workflow": "fetch", "inputs": {"scene": {"path": "$.input.scene"}}},
            "ndvi": {"workflow": "ndvi", "inputs": {"band": {"from": "fetch", "path": "$.output.band"}}},
            "tell": {"action": "noop", "after": ["fetch"], "parameters": {"who": "you"}, "priority": 7},
        },
        "output": {
            "total": {"from": "ndvi", "path": "$.output.total"},
            "scene": {"path": "$.input.scene"},
        },
    },
    "all": {"steps": {"first": {"workflow": "scene", "inputs": {"scene": {"path": "$.input.scene"}}}}},
}


class Graphs:
    """The handler of `graph` on a test's database, and what a test asks of it."""

    def __init__(self, database: Database, connection: Connection, folder: Path) -> None:
        made = context(folder, {"noop": {"type": "noop"}}, WORKFLOWS)
        config = made.config.model_copy(
            update={"database": made.config.database.model_copy(update={"url": database.url})}
        )
        self.context = HandlerContext(config, made.store, {})
        self.database, self.connection = database, connection
        self.handler = GraphHandler("graph", GraphAction(), self.context)

    def submit(self, workflow: str = "scene", **parameters: Any) -> UUID:
        [(uuid,)] = self.connection.execute(
            "select switchyard.submit('graph', %s, %s, priority => 5, lane => 'north')",
            [json.dumps(parameters), workflow],
        ).fetchall()
        return uuid  # type: ignore[no-any-return]

    def work(self, uuid: UUID) -> Work:
        [(workflow, parameters, run, correlation)] = self.database.execute(
            "select a.workflow, a.parameters, t.run, a.correlation_id"
            " from switchyard.action a join switchyard.thread t using (action_uuid) where a.action_uuid = %s",
            uuid,
        )
        return work(workflow, parameters, uuid=uuid, run=run, action_name="graph", correlation_id=correlation)

    def ready(self, uuid: UUID) -> bool:
        return ready(self.database, uuid, "graph")

    def retrigger(self, uuid: UUID) -> None:
        """As caboose has made the callbacks of its end."""
        self.connection.execute("select switchyard.callbacks_made(%s, 1)", [uuid])
        self.connection.execute("select switchyard.retrigger(%s, 'me', 'again')", [uuid])

    def nodes(self, uuid: UUID) -> dict[str, UUID]:
        rows = self.database.execute(
            "select node, action_uuid from switchyard.action where member_of = %s order by 2", uuid
        )
        return dict(rows)

    def write_output(self, uuid: UUID, output: Any, run: int = 1) -> None:
        self.context.store.put(Places(uuid, run).output, json.dumps(output).encode())

    def output(self, uuid: UUID, run: int = 1) -> Any:
        return json.loads(self.context.store.get(Places(uuid, run).output))

    def end(self, uuid: UUID, output: Any = None, status: str = "SUCCESSFUL") -> None:
        if output is not None:
            self.write_output(uuid, output)
        end(self.connection, uuid, status=status)
        settle(self.connection)


@pytest.fixture
async def graphs(database: Database, tmp_path: Path) -> AsyncIterator[Graphs]:
    with database.connect() as connection:
        made = Graphs(database, connection, tmp_path)
        yield made
        await made.handler.close()


async def test_steps_run_in_their_order_and_their_outputs_become_the_workflows(graphs: Graphs) -> None:
    scene = graphs.submit(scene="S2A")
    assert graphs.ready(scene)  # conductor claims it, like any action
    assert await graphs.handler.dispatch(graphs.work(scene)) == HandedOver()
    assert status(graphs.database, scene) == "RUNNING"
    nodes = graphs.nodes(scene)
    assert list(nodes) == ["fetch", "ndvi", "tell", "output"]
    rows = graphs.database.execute(
        "select node, action_name, workflow, priority, lane, parameters from switchyard.action where member_of = %s",
        scene,
    )
    assert ("fetch", "noop", "fetch", 5, "north", {"scene": "S2A"}) in rows
    assert ("tell", "noop", None, 7, "north", {"who": "you"}) in rows
    graphs.end(nodes["fetch"], {"band": 4})
    graphs.end(nodes["tell"])
    graphs.end(nodes["ndvi"], {"total": 12})
    assert status(graphs.database, scene) == "RUNNING"
    assert graphs.ready(nodes["output"])
    assert isinstance(await graphs.handler.dispatch(graphs.work(nodes["output"])), Success)
    graphs.end(nodes["output"])
    assert ends(graphs.database, scene) == [(1, "SUCCESSFUL", None)]
    assert graphs.output(scene) == {"total": 12, "scene": "S2A"}
    assert verified(graphs.database)


async def test_a_dispatch_that_is_repeated_makes_the_steps_once(graphs: Graphs) -> None:
    scene = graphs.submit(scene="S2A")
    twice = graphs.work(scene)
    for _ in range(2):  # its conductor died before it could record the outcome
        assert await graphs.handler.dispatch(twice) == HandedOver()
    assert len(graphs.nodes(scene)) == 4


async def test_a_workflow_that_was_canceled_meanwhile_gets_no_steps(graphs: Graphs) -> None:
    scene = graphs.submit(scene="S2A")
    claimed = graphs.work(scene)
    graphs.connection.execute("select switchyard.cancel(%s, 'me', 'no')", [scene])
    assert await graphs.handler.dispatch(claimed) == HandedOver()  # recorded after the end, so it is ignored
    assert graphs.nodes(scene) == {}
    graphs.retrigger(scene)
    assert await graphs.handler.dispatch(claimed) == HandedOver()  # of the run before
    assert graphs.nodes(scene) == {}
    await graphs.handler.dispatch(graphs.work(scene))
    assert len(graphs.nodes(scene)) == 4
    [(run, now)] = graphs.database.execute(
        "select run, status::text from switchyard.thread where action_uuid = %s", scene
    )
    assert (run, now) == (2, "RUNNING")
    assert verified(graphs.database)


async def test_the_output_is_put_together_again_in_a_retriggered_run(graphs: Graphs) -> None:
    scene = graphs.submit(scene="S2A")
    await graphs.handler.dispatch(graphs.work(scene))
    nodes = graphs.nodes(scene)
    graphs.end(nodes["fetch"], {"band": 4})
    graphs.end(nodes["ndvi"], {"total": 12})
    graphs.end(nodes["tell"], status="FAILED")
    assert status(graphs.database, scene) == "FAILED"
    graphs.retrigger(scene)
    settle(graphs.connection)
    graphs.end(nodes["tell"])
    await graphs.handler.dispatch(graphs.work(nodes["output"]))
    graphs.end(nodes["output"])
    assert [each[:2] for each in ends(graphs.database, scene)] == [(1, "FAILED"), (2, "SUCCESSFUL")]
    assert graphs.output(scene, run=2)["total"] == 12


async def test_an_action_whose_row_is_held_delays_no_other_graph(graphs: Graphs) -> None:
    """All graphs of a conductor share a connection: a statement that waited for a lock would stop them all."""
    held, free = graphs.work(graphs.submit(scene="S2A")), graphs.work(graphs.submit(scene="S2B"))
    with graphs.database.connect(autocommit=False) as holder:
        holder.execute("select from switchyard.thread where action_uuid = %s for update", [held.uuid])
        async with asyncio.timeout(10):
            outcomes = await asyncio.gather(graphs.handler.dispatch(held), graphs.handler.dispatch(free))
        assert isinstance(outcomes[0], Retry)
        assert not outcomes[0].sent
        assert outcomes[1] == HandedOver()
        holder.rollback()
    assert await graphs.handler.dispatch(held) == HandedOver()


async def test_steps_may_have_steps(graphs: Graphs) -> None:
    whole = graphs.submit("all", scene="S2B")
    await graphs.handler.dispatch(graphs.work(whole))
    first = graphs.nodes(whole)["first"]
    await graphs.handler.dispatch(graphs.work(first))
    nodes = graphs.nodes(first)
    assert graphs.work(nodes["fetch"]).parameters == {"scene": "S2B"}
    for name, output in (("fetch", {"band": 1}), ("ndvi", {"total": 3}), ("tell", None)):
        graphs.end(nodes[name], output)
    await graphs.handler.dispatch(graphs.work(nodes["output"]))
    graphs.end(nodes["output"])
    assert [status(graphs.database, uuid) for uuid in (whole, first)] == ["SUCCESSFUL", "SUCCESSFUL"]
    assert verified(graphs.database)


async def test_what_cannot_be_taken_from_the_parameters_is_invalid(graphs: Graphs) -> None:
    outcome = await graphs.handler.dispatch(graphs.work(graphs.submit(other=1)))
    assert isinstance(outcome, Invalid)
    assert "steps.fetch.scene: $.input.scene in the parameters finds nothing" in outcome.error


async def test_an_output_that_is_missing_fails(graphs: Graphs) -> None:
    scene = graphs.submit(scene="S2A")
    await graphs.handler.dispatch(graphs.work(scene))
    nodes = graphs.nodes(scene)
    for name in ("fetch", "tell", "ndvi"):
        graphs.end(nodes[name])
    assert isinstance(await graphs.handler.dispatch(graphs.work(nodes["output"])), Failed)


async def test_a_lost_connection_is_opened_again(graphs: Graphs) -> None:
    await graphs.handler.dispatch(graphs.work(graphs.submit(scene="a")))
    graphs.database.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'switchyard conductor graphs'"
        " and datname = current_database()"
    )
    second = graphs.submit(scene="b")
    outcomes = [await graphs.handler.dispatch(graphs.work(second)) for _ in range(2)]
    assert outcomes[-1] == HandedOver()
    assert len(graphs.nodes(second)) == 4


@pytest.mark.parametrize("name", ["graph", "campaign"])
def test_the_names_of_sets_are_reserved(database: Database, name: str) -> None:
    for statement in (
        f"select switchyard.submit('{name}')",
        f"insert into switchyard.action (action_name) values ('noop'), ('{name}')",
        f"""select switchyard.submit_many('[{{"action_name": "{name}"}}]')""",
    ):
        with pytest.raises(psycopg.errors.CheckViolation, match=f"{name} is reserved"):
            database.execute(statement)
