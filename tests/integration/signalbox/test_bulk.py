"""Decisions about many actions: the count that was shown, groups, progress, and what changed meanwhile."""

import json
from typing import Any
from uuid import UUID

import httpx
import pytest

from signalbox import bulk
from tests.integration.signalbox.conftest import Jobs


@pytest.fixture(autouse=True)
def small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "GROUP", 3)


def failed(jobs: Jobs, count: int) -> list[str]:
    made = [jobs.submit("plain") for _ in range(count)]
    for job in made:
        jobs.report(job, "FAILED", "the scene is empty")
    jobs.database.execute("update switchyard.thread set callbacks_due = false returning 1")
    return made


def asked(expected: int, **chosen: Any) -> dict[str, Any]:
    return {"filter": chosen, "expected": expected, "reason": "the scene is there now"}


async def test_progress_is_reported_after_each_group(client: httpx.AsyncClient, jobs: Jobs) -> None:
    failed(jobs, 7)
    body, lines = asked(7, workflow="plain"), {"Accept": "application/jsonl"}
    answer = await client.post("/jobs:retrigger", json=body, headers=lines)
    assert answer.headers["content-type"].startswith("application/jsonl")
    seen = [json.loads(line) for line in answer.text.splitlines()]
    assert [(each["done"], each["matched"]) for each in seen] == [(3, 7), (6, 7), (7, 7)]
    assert jobs.database.execute("select count(*) from switchyard.yard where run = 2") == [(7,)]


async def test_nothing_is_done_where_the_count_has_changed(client: httpx.AsyncClient, jobs: Jobs) -> None:
    failed(jobs, 4)
    answer = await client.post("/jobs:retrigger", json=asked(3, workflow="plain"))
    assert (answer.status_code, answer.json()["errors"]) == (409, [{"expected": 3, "matched": 4}])
    assert jobs.database.execute("select count(*) from switchyard.yard") == [(0,)]
    assert (await client.post("/jobs:retrigger", json=asked(0))).status_code == 422


async def test_an_action_that_changed_in_between_is_refused_alone(
    client: httpx.AsyncClient, jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = failed(jobs, 5)
    begun = bulk.Bulk.answer

    async def late(self: bulk.Bulk) -> Any:
        jobs.database.execute("select switchyard.retrigger(%s, 'somebody', 'was faster')", made[1])
        return await begun(self)

    monkeypatch.setattr(bulk.Bulk, "answer", late)
    done = (await client.post("/jobs:retrigger", json=asked(5, error="empty"))).json()
    assert (done["matched"], done["done"]) == (5, 4)
    assert [each["action_uuid"] for each in done["refused"]] == [made[1]]
    assert jobs.database.execute("select count(*) from switchyard.yard where run = 2") == [(5,)]


async def test_a_group_that_is_done_stays_done_when_the_database_goes_away(
    client: httpx.AsyncClient, jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed(jobs, 5)
    decide, groups = bulk.Bulk._decide, []

    async def away(self: bulk.Bulk, group: Any) -> None:
        groups.append(group)
        if len(groups) == 2:
            jobs.database.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'signalbox%%'"
                " and datname = current_database()"
            )
        await decide(self, group)

    monkeypatch.setattr(bulk.Bulk, "_decide", away)
    assert (await client.post("/jobs:retrigger", json=asked(5, workflow="plain"))).status_code == 503
    assert jobs.database.execute("select count(*) from switchyard.yard where run = 2") == [(3,)]
    answers = [await client.post("/jobs:retrigger", json=asked(2, workflow="plain")) for _ in range(3)]
    done = [answer.json()["done"] for answer in answers if answer.status_code == 200]
    assert done == [2], "once the pool has noticed which of its connections are gone"


async def test_the_page_before_it_shows_the_count_of_any_filter(
    client: httpx.AsyncClient, jobs: Jobs
) -> None:
    made = failed(jobs, 2)
    for query in (f"id={made[0]}&id={made[1]}", "workflow=plain", "error=SCENE", "name=run"):
        found = (await client.get(f"/jobs:retrigger?{query}")).json()
        assert found["count"] == 2, query
        assert ["expected", "2"] in found["hidden"]
    assert (await client.get("/jobs:cancel?workflow=plain")).json()["count"] == 0
    assert (await client.get("/jobs:retrigger")).status_code == 400
    assert UUID(made[0])


@pytest.mark.parametrize("resume_from", ["start", "failed"])
async def test_a_retrigger_records_where_the_new_runs_begin(
    client: httpx.AsyncClient, jobs: Jobs, resume_from: str
) -> None:
    made = failed(jobs, 3)
    one = {"reason": "the scene is there now", "resume_from": resume_from}
    assert (await client.post(f"/jobs/{made[0]}/retrigger", json=one)).json()["run"] == 2
    body = asked(2, jobs=made[1:]) | {"resume_from": resume_from}
    assert (await client.post("/jobs:retrigger", json=body)).json()["done"] == 2
    recorded = jobs.database.execute("select detail ->> 'resume_from' from switchyard.event where run = 2")
    assert recorded == [(resume_from,)] * 3
    wrong = {"reason": "x", "resume_from": "middle"}
    assert (await client.post(f"/jobs/{made[0]}/retrigger", json=wrong)).status_code == 422


async def test_the_page_of_a_retrigger_offers_where_to_begin(client: httpx.AsyncClient, jobs: Jobs) -> None:
    [job] = failed(jobs, 1)
    page = (await client.get(f"/jobs/{job}/retrigger", headers={"Accept": "text/html"})).text
    assert '<select id="resume_from" name="resume_from">' in page
    sent = await client.post(f"/jobs/{job}/retrigger", data={"reason": "again", "resume_from": "start"})
    assert sent.status_code in (200, 303)
    assert jobs.database.execute("select detail ->> 'resume_from' from switchyard.event where run = 2") == [
        ("start",)
    ]
