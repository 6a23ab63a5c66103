"""Where jobs are: recorded with the submission, and searched by a box."""

import json
import time
from typing import Any
from uuid import UUID

import httpx
import pytest

from tests.integration.signalbox.conftest import Connect, Token
from tests.parts.database import Database

SCHEMA = {"type": "object", "properties": {"bbox": {"type": "array"}, "geometry": {"type": "object"}}}
SQUARE = {"type": "Polygon", "coordinates": [[[-2, 51], [-1, 51], [-1, 52], [-2, 52], [-2, 51]]]}


@pytest.fixture(autouse=True)
def _announced(database: Database) -> None:
    database.execute(
        "insert into switchyard.route (workflow, action_name, about) values ('flood', 'argo', %s), ('mail', 'argo', %s), ('bare', 'argo', null)",
        json.dumps({"input": SCHEMA}),
        json.dumps({"input": {"properties": {"to": {"type": "string"}}}, "title": "bbox"}),
    )


def submit(database: Database, parameters: Any, workflow: str = "flood", **given: Any) -> str:
    [[uuid]] = database.execute(
        "select switchyard.submit(parameters => %s, workflow => %s)",
        *(json.dumps(parameters), workflow),
    )
    return str(uuid)


def footprint(database: Database, job: str) -> list[str]:
    rows = database.execute(
        "select area::text from switchyard.footprint where action_uuid = %s order by part", job
    )
    return [str(area) for (area,) in rows]


async def found(client: httpx.AsyncClient, bbox: str, **query: Any) -> list[str]:
    answer = await client.get("/jobs", params={"bbox": bbox, **query})
    assert answer.status_code == 200, answer.text
    return [job["jobID"] for job in answer.json()["jobs"]]


@pytest.mark.parametrize(
    ("parameters", "areas"),
    [
        ({"bbox": [-1.9, 51.7, -1.4, 52.0]}, ["(-1.4,52),(-1.9,51.7)"]),
        ({"bbox": [-1.9, 51.7, 0, -1.4, 52.0, 90]}, ["(-1.4,52),(-1.9,51.7)"]),
        ({"geometry": SQUARE}, ["(-1,52),(-2,51)"]),
        ({"geometry": {"type": "Point", "coordinates": [7, 50, 300]}}, ["(7,50),(7,50)"]),
        ({"items": [{"geometry": SQUARE}, {"bbox": [3, 3, 4, 4]}]}, ["(4,52),(-2,3)"]),
        # Across the antimeridian, as GeoJSON has it.
        ({"bbox": [177, -20, -178, -16]}, ["(180,-16),(177,-20)", "(-178,-16),(-180,-20)"]),
        (
            {"a": {"bbox": [177, -20, -178, -16]}, "b": {"coordinates": [170, -10]}},
            ["(180,-10),(170,-20)", "(-178,-10),(-180,-20)"],
        ),
        ({"bbox": [-180, -90, 180, 90]}, ["(180,90),(-180,-90)"]),
        ({"bbox": [1, 52, 2, 51]}, ["(2,52),(1,51)"]),
        # Coordinates of other systems, and what is not a place.
        ({"bbox": [450000, 200000, 451000, 201000]}, []),
        ({"bbox": [1e300, 0, -1e300, 1]}, []),
        ({"bbox": [1e-300, 0, 1, 1]}, ["(1,1),(0,0)"]),
        ({"bbox": ["NaN", 0, "Infinity", 1]}, []),
        ({"bbox": ["1", "2", "3", "4"]}, []),
        ({"bbox": [1, 2, 3]}, []),
        ({"bbox": [[1, 2], [3, 4]]}, []),
        ({"bbox": {"bbox": None}}, []),
        ({"bbox": []}, []),
        ({"geometry": {"type": "Polygon", "coordinates": []}}, []),
        ({"geometry": {"type": "Polygon", "coordinates": [[[]]]}}, []),
        ({"geometry": {"type": "Polygon", "coordinates": [["x", None], {"a": 1}]}}, []),
        ({"geometry": None}, []),
        ({}, []),
    ],
)  # fmt: skip
def test_the_footprint_is_a_box_around_all_coordinates(
    database: Database, parameters: Any, areas: list[str]
) -> None:
    assert footprint(database, submit(database, parameters)) == areas


def test_a_workflow_whose_inputs_have_no_coordinates_pays_nothing(database: Database) -> None:
    """Not even a look: a bulk of them calls no function of footprints."""
    for workflow in ("mail", "bare"):
        assert footprint(database, submit(database, {"bbox": [0, 0, 1, 1]}, workflow)) == []
    with database.connect() as connection:
        connection.execute("set track_functions = 'all'")
        connection.execute(
            "insert into switchyard.action (action_type, action_name, workflow, parameters)"
            " select 'workflow', 'argo', 'mail', '{\"bbox\": [0, 0, 1, 1]}' from generate_series(1, 50)"
        )
        connection.execute(
            "insert into switchyard.action (action_name, parameters) values ('argo', '{\"bbox\": [0, 0, 1, 1]}')"
        )
        connection.execute("select pg_stat_force_next_flush()")
        called = connection.execute("select funcname from pg_stat_user_functions").fetchall()
    assert "action_makes_thread" in {name for (name,) in called}
    assert "footprint_of" not in {name for (name,) in called}


def test_many_in_one_statement_are_all_recorded(database: Database) -> None:
    database.execute(
        "insert into switchyard.action (action_type, action_name, workflow, parameters)"
        " select 'workflow', 'argo', case when n %% 2 = 0 then 'flood' else 'mail' end,"
        "   jsonb_build_object('bbox', jsonb_build_array(n, 0, n + 1, 1)) from generate_series(1, 100) n"
    )
    assert database.execute("select count(*) from switchyard.footprint") == [(50,)]


def test_inputs_beyond_the_limit_are_not_searched_and_cost_little(database: Database) -> None:
    """Nested in each other under the names that are looked for, and a polygon of 1 MB."""
    nested: Any = [[n / 100, 2] for n in range(8_000)]
    for _ in range(20):
        nested = {"coordinates": nested}
    began = time.monotonic()
    submit(database, {"geometry": {"coordinates": [[[n / 1000, 1.5] for n in range(50_000)]]}})
    submit(database, nested)
    assert time.monotonic() - began < 5
    few = {"geometry": {"coordinates": [[[n / 1000, 1.5] for n in range(5_000)]]}}
    assert footprint(database, submit(database, few)) == ["(4.999,1.5),(0,1.5)"]


async def test_jobs_are_found_by_a_box(client: httpx.AsyncClient, database: Database) -> None:
    square = submit(database, {"geometry": SQUARE})
    fiji = submit(database, {"bbox": [177, -20, -178, -16]})
    submit(database, {"bbox": [177, -20, -178, -16]}, "mail")
    submit(database, {})
    assert await found(client, "-180,-90,180,90") == [fiji, square]
    assert await found(client, "-1.5,51.5,-1.4,51.6") == [square]
    assert await found(client, "-1,52,3,53") == [square], "a corner is enough"
    assert await found(client, "-0.99,52,3,53") == []
    assert await found(client, "-179,-18,-178.5,-17") == [fiji]
    assert await found(client, "178,-18,179,-17") == [fiji]
    assert await found(client, "179,-18,-179,-17") == [fiji], "a box across the antimeridian"
    assert await found(client, "10,-80,-10,80") == [fiji], "all but a stripe"
    assert await found(client, "-180,-90,180,90", status="successful") == []
    assert await found(client, "-180,-90,180,90", limit=1) == [fiji]
    listed = (await client.get("/jobs")).json()["jobs"]
    assert [job.get("bbox") for job in listed] == [None, None, [177, -20, -178, -16], [-2, 51, -1, 52]]


@pytest.mark.parametrize(
    "bbox",
    ["", "1,2,3", "1,2,3,4,5", "a,b,c,d", "nan,0,1,1", "inf,0,1,1", "-inf,0,1,1", "1e400,0,1,1", "0,0,181,1", "0,2,1,1",
     "0,0,1,1'", "(0,0),(1,1)", "null,0,1,1"],
)  # fmt: skip
async def test_what_is_not_a_box_is_refused(client: httpx.AsyncClient, bbox: str) -> None:
    answer = await client.get("/jobs", params={"bbox": bbox})
    assert answer.status_code == 400, answer.text
    assert "bbox" in answer.json()["detail"]


async def test_pages_of_a_box_lead_on(client: httpx.AsyncClient, database: Database) -> None:
    wanted = [submit(database, {"bbox": [n, 0, n + 1, 1]}) for n in range(7)]
    submit(database, {"bbox": [0, 40, 1, 41]})
    seen: list[str] = []
    href: str | None = "/jobs?bbox=0,0,7,1&limit=3"
    while href is not None:
        answer = (await client.get(href)).json()
        seen += [job["jobID"] for job in answer["jobs"]]
        assert "lookedBackTo" not in answer, "the index knows all"
        href = next((link["href"] for link in answer["links"] if link["rel"] == "next"), None)
    assert seen == wanted[::-1]


@pytest.mark.parametrize("most", [3, 4, 7, 8])
def test_a_box_that_many_touch_is_answered_from_the_newest(database: Database, most: int) -> None:
    """The window moves on by links, and nothing is left out or repeated."""
    jobs = [submit(database, {"bbox": [177, n, -177, n + 1]}) for n in range(8)]
    seen: list[str] = []
    before = "ffffffff-ffff-ffff-ffff-ffffffffffff"
    for _ in range(10):
        values = ("{(-179,0),(-178,90)}", UUID(int=0), before, most)
        rows = database.execute("select switchyard.located(%s::box[], %s, %s, %s)::text", *values)
        seen += [str(uuid) for (uuid,) in rows]
        [[end]] = database.execute("select switchyard.located_end(%s::box[], %s, %s, %s)::text", *values)
        if end is None:
            break
        before = str(end)
    assert seen == jobs[::-1]


async def test_a_submitter_finds_its_own_alone(connect: Connect, token: Token, database: Database) -> None:
    client = await connect(access={"tokens": True})
    inputs = {"inputs": {"bbox": [0, 0, 1, 1]}}
    mine = await client.post("/processes/flood/execution", json=inputs, headers=token("submitter", "anna"))
    assert mine.status_code == 201, mine.text
    bob = token("submitter", "bob")
    await client.post("/processes/flood/execution", json=inputs, headers=bob)
    answer = await client.get("/jobs", params={"bbox": "0,0,1,1"}, headers=bob)
    [job] = answer.json()["jobs"]
    assert job["switchyard"]["submitted_by"] == "token:bob"
    with database.connect() as connection:
        connection.execute("set role switchyard_client")
        rows = connection.execute(
            "select from switchyard.located('{(0,0),(1,1)}'::box[], %s, %s, 100)",
            (UUID(int=0), UUID(int=2**128 - 1)),
        ).fetchall()
        assert rows == [], "nobody is named"


def test_a_footprint_goes_with_its_partition(database: Database) -> None:
    job = submit(database, {"bbox": [0, 0, 1, 1]})
    old = "01900000-0000-7000-8000-000000000000"
    database.execute("insert into switchyard.footprint values (%s, 1, '(0,0),(1,1)')", old)
    database.execute(
        "select switchyard.attach_partition(parent, '20240610', '2024-06-10', '2024-06-11') from unnest(array['action', 'thread', 'event']) parent"
    )
    database.execute(
        "insert into switchyard.partition_span values ('2024-06-10Z', '2024-06-11Z', '20240610')"
    )
    assert database.execute("select switchyard.drop_partition('20240610')") == [(None,)]
    assert database.execute("select action_uuid::text from switchyard.footprint") == [(job,)]


def test_no_footprint_can_be_somewhere_else_than_on_earth(database: Database) -> None:
    for area in ("(NaN,0),(1,1)", "(181,0),(1,1)", "(0,-Infinity),(1,1)", "(0,NaN),(NaN,1)"):
        with pytest.raises(Exception, match="footprint_is_on_earth"):
            database.execute("insert into switchyard.footprint values (gen_random_uuid(), 1, %s::box)", area)
