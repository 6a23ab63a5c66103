"""The graph that a job is a step of, as its submitter sees it and nobody else."""

import json
from typing import Any

import httpx

from tests.integration.signalbox.conftest import Connect, Jobs, Token

NODE = {"workflow": "plain", "action_name": "run"}
AFTER: dict[str, list[str]] = {
    "fetch": [],
    "left": ["fetch"],
    "right": ["fetch"],
    "merge": ["left", "right"],
}


def diamond(jobs: Jobs) -> dict[str | None, str]:
    """The ids of a graph of four steps by their names; that of the whole under None."""
    nodes = {name: {**NODE, "after": after} for name, after in AFTER.items()}
    made = jobs.database.execute("select * from switchyard.submit_graph(%s)", json.dumps({"nodes": nodes}))
    return {name: str(uuid) for name, uuid in made}


async def graph_of(client: httpx.AsyncClient, job: str, **given: Any) -> Any:
    answer = await client.get(f"/jobs/{job}/graph", **given)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_step_shows_the_whole_graph(client: httpx.AsyncClient, jobs: Jobs) -> None:
    ids = diamond(jobs)
    jobs.report(ids["fetch"], "RUNNING")
    found = await graph_of(client, ids["left"])
    assert found["whole"] == ids[None]
    assert {each["name"]: each["after"] for each in found["steps"]} == AFTER
    assert {each["action_uuid"] for each in found["steps"]} == {ids[name] for name in AFTER}
    assert [each["status"] for each in found["steps"]] == ["RUNNING", "PENDING", "PENDING", "PENDING"]
    page = (await client.get(f"/jobs/{ids['left']}?f=html")).text
    assert 'aria-label="fetch: running.' in page
    assert "1 running, 3 pending" in page or "3 pending, 1 running" in page


async def test_a_workflow_with_steps_shows_them(client: httpx.AsyncClient, jobs: Jobs) -> None:
    job = jobs.submit("plain")
    assert await graph_of(client, job) == {"steps": []}
    jobs.database.execute("insert into switchyard.route values ('steps', 'graph', null) returning 1")
    whole = jobs.submit("steps")
    nodes = {name: {**NODE, "after": after} for name, after in AFTER.items()}
    jobs.database.execute("select switchyard.open_graph(%s, 1, 1, %s)", whole, json.dumps({"nodes": nodes}))
    found = await graph_of(client, whole)
    assert (found["whole"], found["steps"][0]["name"]) == (whole, "fetch")


async def test_a_submitter_sees_no_graph_of_another(connect: Connect, token: Token, jobs: Jobs) -> None:
    ids = diamond(jobs)
    client = await connect(access={})
    answer = await client.get(f"/jobs/{ids['left']}/graph", headers=token("submitter"))
    assert answer.status_code == 404
    assert len((await graph_of(client, ids["left"], headers=token("reader")))["steps"]) == 4
