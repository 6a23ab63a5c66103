"""A submission is one message, checked against the process as the database has it at that moment."""

import json
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from signalbox.app import build
from signalbox.database import Database as Pool
from signalbox.site import Site
from signalbox.submissions import Submissions
from tests.integration.signalbox.conftest import Connect, Jobs, Token
from tests.parts.database import Database

NUMBERS = {"input": {"type": "object", "properties": {"scene": {"type": "number"}}, "required": ["scene"]}}


async def execute(client: httpx.AsyncClient, scene: Any, process: str = "nutrient") -> httpx.Response:
    return await client.post(f"/processes/{process}/execution", json={"inputs": {"scene": scene}})


async def test_the_second_submission_is_one_message(
    client: httpx.AsyncClient, jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await execute(client, "S2A")).status_code == 201
    sent: list[str] = []
    execute_real = psycopg.AsyncCursor.execute

    async def counted(self: Any, text: Any, *given: Any, **more: Any) -> Any:
        sent.append(text)
        return await execute_real(self, text, *given, **more)

    monkeypatch.setattr(psycopg.AsyncCursor, "execute", counted)
    answer = await execute(client, "S2B")
    assert answer.status_code == 201
    assert len(sent) == 1, sent
    found = (await client.get(f"/jobs/{answer.json()['jobID']}")).json()
    assert answer.json() == found
    assert found["status"] == "accepted"
    assert found["switchyard"]["submitted_by"] == "anonymous"


async def test_inputs_meet_the_schema_that_was_announced_last(client: httpx.AsyncClient, jobs: Jobs) -> None:
    assert (await execute(client, "S2A")).status_code == 201
    about = "update switchyard.route set about = %s where workflow = 'nutrient' returning 1"
    jobs.database.execute(about, json.dumps(NUMBERS))
    refused = await execute(client, "S2A")
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == "/inputs/scene"
    assert (await execute(client, 7)).status_code == 201


async def test_a_process_that_was_withdrawn_is_no_longer_found(client: httpx.AsyncClient, jobs: Jobs) -> None:
    assert (await execute(client, "S2A")).status_code == 201
    jobs.database.execute("delete from switchyard.route where workflow = 'nutrient' returning 1")
    answer = await execute(client, "S2A")
    assert answer.status_code == 404
    assert answer.json()["type"].endswith("/no-such-process")
    assert jobs.database.execute("select count(*) from switchyard.action") == [(1,)]


async def test_the_role_of_a_submission_ends_with_it(connect: Connect, token: Token, jobs: Jobs) -> None:
    client = await connect(access={}, connections=1)
    ann, reader = token("submitter", "ann"), token("reader")
    made = await client.post("/processes/plain/execution", json={}, headers=ann)
    assert made.json()["switchyard"]["submitted_by"] == "token:ann"
    async with client.site.database._pool.connection() as connection:  # type: ignore[attr-defined]
        cursor = await connection.execute(
            "select current_setting('role') as r, current_setting('switchyard.caller', true) as c"
        )
        row = await cursor.fetchone()
    assert (row["r"], row["c"] or "") == ("none", "")
    assert (await client.post("/processes/plain/execution", json={}, headers=reader)).status_code == 403


async def test_routes_are_found_where_the_application_is_mounted(connect: Connect, jobs: Jobs) -> None:
    client = await connect(base_path="/yard")
    app = build(client.site)  # type: ignore[attr-defined]
    for root, path in (("", "/yard/jobs"), ("/outer", "/outer/yard/jobs"), ("", "/yard/processes/plain")):
        transport = httpx.ASGITransport(app, root_path=root)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as mounted:
            assert (await mounted.get(path)).status_code == 200, path
            assert (await mounted.put(path)).status_code == 405, path
            assert (await mounted.get(f"{path}/no/such/thing")).status_code == 404, path


async def test_a_login_without_rights_of_its_own_is_enough(
    connect: Connect, token: Token, jobs: Jobs, database: Database
) -> None:
    name = f"signalbox_{uuid4().hex[:12]}"
    roles = "switchyard_client, switchyard_reader, switchyard_operator"
    database.execute(f"do $$ begin create role {name} login noinherit; grant {roles} to {name}; end $$")
    client = await connect(access={})
    site: Site = client.site  # type: ignore[attr-defined]
    await site.database.close()
    site.database = Pool(make_conninfo(database.url, user=name), 2)
    site.submissions = Submissions(site.database)
    await site.database.open()
    try:
        ann = token("submitter", "ann")
        made = await client.post("/processes/plain/execution", json={}, headers=ann)
        assert made.status_code == 201, made.text
        again = await client.post("/processes/plain/execution", json={"inputs": {"a": "'; x"}}, headers=ann)
        assert again.status_code == 201, again.text
        found = (await client.get("/jobs", headers=ann)).json()["jobs"]
        assert {each["jobID"] for each in found} == {made.json()["jobID"], again.json()["jobID"]}
        assert (await client.get("/queues", headers=token("operator"))).status_code == 200
    finally:
        await site.database.close()
        database.execute(f"do $$ begin revoke {roles} from {name}; drop role {name}; end $$")


async def test_a_method_that_a_path_does_not_take_is_answered_by_those_that_it_takes(
    client: httpx.AsyncClient, jobs: Jobs
) -> None:
    for path, allowed in (("/jobs", "GET, HEAD"), (f"/jobs/{jobs.submit()}", "DELETE, GET, HEAD")):
        answer = await client.patch(path)
        assert (answer.status_code, answer.headers["allow"]) == (405, allowed)
