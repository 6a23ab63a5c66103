"""Whole graphs: names instead of ids, one end, a cancel and a retrigger of the whole and of a node."""

from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.types.json import Jsonb

from tests.integration.ledger.ledger import Ledger
from tests.integration.sets.campaigns import feed, row, start, submit_items
from tests.integration.sets.graphs import ends, nodes, settle, submit_graph, tally, verified
from tests.integration.waiting.joins import end, held, ready, status
from tests.parts.database import Database

pytestmark = pytest.mark.database
DIAMOND = {"nodes": nodes(fetch="", left="fetch", right="fetch", merge="left right")}
FETCH = {"workflow": "fetch", "action_name": "noop"}
BOUND = {
    "workflow": "ndvi",
    "action_name": "noop",
    "inputs": {"scene": {"from": "fetch", "path": "$.output.scene"}},
}


def test_a_graph_runs_in_its_order_and_ends_once(database: Database) -> None:
    with database.connect() as connection:
        ids = submit_graph(connection, {**DIAMOND, "callbacks": []})
        for names in (["fetch"], ["left", "right"], ["merge"]):
            settle(connection)
            assert [name for name in DIAMOND["nodes"] if ready(database, ids[name])] == names
            assert status(database, ids[None]) == "RUNNING"
            for name in names:
                end(connection, ids[name])
        settle(connection)
        settle(connection)
    assert ends(database, ids[None]) == [(1, "SUCCESSFUL", None)]
    assert tally(database, ids[None]) == (4, 4, 0, 0)
    [(due,)] = database.execute(
        "select callbacks_due from switchyard.thread where action_uuid = %s", ids[None]
    )
    assert due  # caboose makes the callbacks of the whole
    assert verified(database)


def test_an_input_of_another_node_is_an_edge(database: Database) -> None:
    with database.connect() as connection:
        ids = submit_graph(connection, {"nodes": {"fetch": FETCH, "ndvi": BOUND}})
        settle(connection)
        assert held(database, ids["ndvi"])
        end(connection, ids["fetch"])
        settle(connection)
    assert ready(database, ids["ndvi"])
    [(inputs,)] = database.execute("select inputs from switchyard.action where action_uuid = %s", ids["ndvi"])
    reference = {"from": str(ids["fetch"]), "path": "$.output.scene"}
    assert inputs == {"scene": reference}
    [(parameters,)] = database.execute("select parameters from switchyard.action where node = 'ndvi'")
    assert parameters == {"$inputs": {"scene": {**reference, "run": 1}}}


def test_a_submission_cannot_name_the_outputs_of_others(database: Database) -> None:
    forged = Jsonb({"$inputs": {"x": {"from": "another", "run": 1, "path": "$.output"}}})
    with database.connect() as connection:
        with pytest.raises(psycopg.errors.CheckViolation, match="parameters_names_no_inputs"):
            connection.execute("select switchyard.submit('noop', %s)", [forged])
        campaign = start(connection)
        assert feed(connection, campaign, [{"id": "a", "parameters": forged.obj}]) == 1
        submit_items(connection)
    assert "parameters_names_no_inputs" in row(database)["source_error"]


def test_a_failed_node_cancels_those_behind_it_and_its_retrigger_reopens_all(database: Database) -> None:
    with database.connect() as connection:
        ids = submit_graph(connection, DIAMOND)
        end(connection, ids["fetch"])
        settle(connection)
        end(connection, ids["left"], status="FAILED")
        end(connection, ids["right"])
        settle(connection)
        assert status(database, ids["merge"]) == "CANCELED"
        error = "2 of 4 members ended without success"
        assert ends(database, ids[None]) == [(1, "FAILED", error)]
        connection.execute("select switchyard.retrigger(%s, 'me', 'again')", [ids["left"]])
        settle(connection)
        assert [status(database, ids[name]) for name in (None, "left", "merge", "right")] == [
            "RUNNING",
            "PENDING",
            "PENDING",
            "SUCCESSFUL",
        ]
        assert tally(database, ids[None]) == (4, 2, 0, 2)
        assert verified(database)
        for name in ("left", "merge"):
            end(connection, ids[name])
            settle(connection)
    assert ends(database, ids[None]) == [(1, "FAILED", error), (2, "SUCCESSFUL", None)]
    assert tally(database, ids[None]) == (4, 4, 0, 0)
    assert verified(database)


def test_a_cancel_of_the_whole_reaches_every_open_node_and_a_retrigger_reopens_them(
    database: Database,
) -> None:
    with database.connect() as connection:
        ids = submit_graph(connection, DIAMOND)
        end(connection, ids["fetch"])
        settle(connection)
        connection.execute("select switchyard.cancel(%s, 'me', 'wrong scene')", [ids[None]])
        settle(connection)
        names = ("fetch", "left", "right", "merge")
        assert [status(database, ids[name]) for name in names] == ["SUCCESSFUL", *["CANCELED"] * 3]
        [(_run, _status, error)] = ends(database, ids["left"])
        assert error == f"{ids[None]}, which it belongs to, ended CANCELED"
        assert verified(database)
        connection.execute("select switchyard.retrigger(%s, 'me', 'right after all')", [ids[None]])
        for name in names[1:]:
            settle(connection)
            assert status(database, ids[None]) == "RUNNING"
            end(connection, ids[name])
        settle(connection)
    assert ends(database, ids[None])[1:] == [(2, "SUCCESSFUL", None)]
    assert verified(database)


def test_a_node_retriggered_after_a_cancel_of_the_whole_runs_by_itself(database: Database) -> None:
    with database.connect() as connection:
        ids = submit_graph(connection, {"nodes": nodes(a="", b="")})
        connection.execute("select switchyard.cancel(%s, 'me', 'no')", [ids[None]])
        settle(connection)
        connection.execute("select switchyard.retrigger(%s, 'me', 'this one')", [ids["a"]])
        settle(connection)
        assert [status(database, ids[name]) for name in (None, "a", "b")] == [
            "CANCELED",
            "PENDING",
            "CANCELED",
        ]
        end(connection, ids["a"])
        settle(connection)
    assert tally(database, ids[None]) == (2, 1, 1, 0)
    assert verified(database)


def test_the_same_graph_with_the_same_key_returns_the_first(database: Database) -> None:
    with database.connect() as connection:
        ids = submit_graph(connection, {**DIAMOND, "key": "scene 7"})
        assert submit_graph(connection, {**DIAMOND, "key": "scene 7", "correlation_id": "r2"}) == ids
        with pytest.raises(psycopg.errors.UniqueViolation, match="asked for something else"):
            submit_graph(connection, {"nodes": nodes(a=""), "key": "scene 7"})
    assert len(database.execute("select 1 from switchyard.action")) == 5


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ({}, "must be an object of 1 to 1000 nodes"),
        ({"nodes": {}}, "must be an object of 1 to 1000 nodes"),
        ({"nodes": nodes(**{f"n{n}": "" for n in range(1001)})}, "must be an object of 1 to 1000 nodes"),
        ({"nodes": nodes(a="b")}, "nodes.a: there is no node b to wait for"),
        ({"nodes": nodes(a="a")}, "these wait for each other, or for some that do: a"),
        ({"nodes": nodes(a="", b="d a", c="b", d="c", e="d")}, "or for some that do: b, c, d, e"),
        ({"nodes": {"a": {"action_name": "noop", "afterr": []}}}, "nodes.a: there is no field afterr"),
        ({"nodes": {"a": {"action_name": "noop", "after": "b"}}}, "nodes.a.after: must be a list of names"),
        ({"nodes": {"a": {"action_name": "noop", "policy": "any"}}}, "must be successful or ended"),
        ({"nodes": {"a": 1}}, "nodes.a: must be an object"),
        ({"nodes": {"a": BOUND | {"workflow": None}}}, "only a node with a workflow takes inputs"),
        ({"nodes": {"a": BOUND, **nodes(fetch="")}}, "node fetch has no workflow, and so no output"),
        ({"nodes": {"a": {**FETCH, "parameters": {"$inputs": {}}}}}, "reserved"),
        ({"nodes": {"a": BOUND}}, "nodes.a: there is no node fetch to wait for"),
        (
            {"nodes": {"a": {**FETCH, "inputs": {"x": {"from": "a"}}}}},
            "nodes.a.inputs.x: must have",
        ),
        ({"nodes": nodes(a=""), "colour": "red"}, "graph: there is no field colour"),
        ({"nodes": {"a": {}}}, "action_name: needed"),
    ],
)
def test_a_graph_that_is_wrong_is_refused_with_the_reason(
    database: Database, graph: dict[str, Any], message: str
) -> None:
    with database.connect() as connection, pytest.raises(psycopg.errors.Error, match=message):
        submit_graph(connection, graph)
    assert database.execute("select 1 from switchyard.action") == []


def test_the_longest_chain_and_the_widest_fan_are_accepted(database: Database) -> None:
    names = [f"n{number:04}" for number in range(999)]
    chain = dict(zip([*names, "last"], ["", *names], strict=True))
    fan = dict.fromkeys(names, "") | {"last": " ".join(names)}
    with database.connect() as connection:
        for graph in (chain, fan):
            ids = submit_graph(connection, {"nodes": nodes(**graph)})
            assert len(ids) == 1001
            assert max(uuid for uuid in ids.values()) == ids["last"]


def test_a_submitter_submits_graphs_and_cannot_join_one_of_others(ledger: Ledger) -> None:
    ids = submit_graph(ledger.connection, {"nodes": nodes(a="")})
    connection = ledger.connection
    connection.execute("set role switchyard_submitter")
    mine = submit_graph(connection, {"nodes": nodes(mine="")})
    assert len(mine) == 2
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute(
            sql.SQL("insert into switchyard.action (action_name, member_of) values ('noop', {})").format(
                sql.Literal(ids[None])
            )
        )
