"""What a submission over HTTP takes beyond the standard is stored as plain SQL stores it."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from switchyard.config.config import Config
from tests.integration.signalbox.conftest import Connect, Jobs, Token

UNKNOWN = "4d376753-b68c-44fa-9dc3-a143e468b379"
START = (datetime.now(UTC) + timedelta(days=1)).replace(microsecond=0).isoformat()
CALLBACK = {"name": "done", "action": "hook", "for": "summary", "parameters": {"n": {"value": 1}}}
STORED = "select start_after, after, after_policy, callbacks, no_cache from switchyard.action where action_uuid = %s"
BY_SQL = """
    select switchyard.submit(workflow => 'plain', start_after => %s, after => array[%s::uuid], after_policy => 'ended', callbacks => %s,
      no_cache => true)
"""


async def submit(
    client: httpx.AsyncClient, headers: dict[str, str] | None = None, **options: Any
) -> httpx.Response:
    return await client.post("/processes/plain/execution", json={"switchyard": options}, headers=headers)


async def test_times_dependencies_and_callbacks_are_stored_as_by_sql(connect: Connect, jobs: Jobs) -> None:
    client = await connect(callback_actions=["hook"])
    first = jobs.submit(scene="S2A")
    options: dict[str, Any] = {
        "start_after": START,
        "after": [first],
        "after_policy": "ended",
        "callbacks": [CALLBACK],
    }
    made = await submit(client, no_cache=True, **options)
    assert made.status_code == 201, made.text
    ((ours,),) = jobs.database.execute(BY_SQL, START, first, json.dumps([CALLBACK]))
    by_http, by_sql = (jobs.database.execute(STORED, job) for job in (made.json()["jobID"], ours))
    assert by_http == by_sql
    assert by_http[0][3] == [CALLBACK]
    assert datetime.fromisoformat(made.json()["switchyard"]["start_after"]) == datetime.fromisoformat(START)
    assert jobs.database.execute("select count(*) from switchyard.waiting") == [(2,)]


async def test_a_submitter_waits_for_its_own_jobs_only(connect: Connect, token: Token, jobs: Jobs) -> None:
    client = await connect(access={})
    ann, bob = token("submitter", "ann"), token("submitter", "bob")
    job = (await submit(client, ann)).json()["jobID"]
    assert (await submit(client, ann, after=[job])).status_code == 201
    refused = [await submit(client, bob, after=[each]) for each in (job, UNKNOWN)]
    assert [each.status_code for each in refused] == [422, 422]
    assert [each.json()["detail"].rpartition(" ")[0] for each in refused] == ["after: there is no job"] * 2
    assert (await submit(client, token("operator"), after=[job])).status_code == 201


async def test_callbacks_name_allowed_actions_only(connect: Connect, jobs: Jobs) -> None:
    client = await connect(callback_actions=["hook"])
    for given, where in (
        ([CALLBACK, {**CALLBACK, "action": "other"}], "/switchyard/callbacks/1/action"),
        ([{}], "/switchyard/callbacks/0/action"),
        (["hook"], "/switchyard/callbacks/0"),
    ):
        refused = await submit(client, callbacks=given)
        assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, where)
    closed = await connect()
    assert (await submit(closed, callbacks=[CALLBACK])).status_code == 422
    assert jobs.database.execute("select count(*) from switchyard.action") == [(0,)]


async def test_callbacks_meet_the_rules_of_the_configuration(connect: Connect, jobs: Jobs) -> None:
    client = await connect(callback_actions=["hook"], subscriber_action="hook")
    site = client.site  # type: ignore[attr-defined]
    known = site.config.model_dump(include={"signalbox"}, by_alias=True, exclude_unset=True)
    site.config = Config.model_validate({**known, "actions": {"hook": {"type": "noop"}}})
    wrong = await submit(client, callbacks=[{**CALLBACK, "when": ["DONE"]}])
    assert wrong.status_code == 422
    assert wrong.json()["errors"][0]["pointer"].startswith("/switchyard/callbacks/0/when")
    body = {"switchyard": {"callbacks": [CALLBACK]}, "subscriber": {"successUri": "https://a.example/x"}}
    made = await client.post("/processes/plain/execution", json=body)
    assert made.status_code == 201, made.text
    ((stored,),) = jobs.database.execute("select callbacks from switchyard.action")
    assert [each["name"] for each in stored] == ["done", "subscriber-success"]


@pytest.mark.parametrize(
    "options",
    [
        {"start_after": "2026-01-01T00:00:00"},
        {"start_after": "9999-12-31T23:59:59Z"},
        {"start_after": "infinity"},
        {"after": ["x"]},
        {"after_policy": "ended"},
        {"after": [UNKNOWN] * 1001},
        {"after": [UNKNOWN], "after_policy": "never"},
        {"callbacks": {}},
    ],
    ids=lambda options: json.dumps(options)[:60],
)
async def test_what_is_not_valid_is_refused(
    client: httpx.AsyncClient, jobs: Jobs, options: dict[str, Any]
) -> None:
    refused = await submit(client, **options)
    assert refused.status_code == 422, refused.text
    assert jobs.database.execute("select count(*) from switchyard.action") == [(0,)]


async def test_a_page_of_jobs_has_a_bounded_size(client: httpx.AsyncClient, jobs: Jobs) -> None:
    made = {jobs.submit(scene=str(number)) for number in range(60)}
    for job in made:
        jobs.report(job, "FAILED", "x" * 65_000)
    seen: list[str] = []
    path = "/jobs?limit=1000&f=json"
    while path:
        answer = await client.get(path)
        assert len(answer.content) < 5_000_000
        found = answer.json()
        seen += [each["jobID"] for each in found["jobs"]]
        path = next((each["href"] for each in found["links"] if each["rel"] == "next"), "")
    assert len(seen) == 60
    assert set(seen) == made
