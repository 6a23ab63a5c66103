"""Every page is the HTML of a route, and the route answers JSON as well."""

import httpx
import pytest

from tests.integration.signalbox.conftest import Connect, Token
from tests.parts.database import Database

PAGES = ["/", "/jobs", "/processes", "/queues", "/workers", "/inbox", "/journal"]


@pytest.mark.parametrize("path", PAGES)
async def test_html_by_accept_or_by_f_and_json_otherwise(client: httpx.AsyncClient, path: str) -> None:
    page = await client.get(path, headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert (await client.get(path, params={"f": "html"})).text.startswith("<!doctype html>")
    for headers in ({"Accept": "application/json"}, {"Accept": "*/*"}):
        record = await client.get(path, headers=headers)
        assert (record.status_code, record.headers["content-type"]) == (200, "application/json")
        assert isinstance(record.json(), dict)


async def test_a_job_has_a_page_and_a_record(client: httpx.AsyncClient, database: Database) -> None:
    ((job,),) = database.execute("select switchyard.submit('run', workflow => 'nutrient')")
    listed = (await client.get("/jobs")).json()["jobs"]
    assert [each["jobID"] for each in listed] == [str(job)]
    record = (await client.get(f"/jobs/{job}")).json()
    assert (record["processID"], record["status"]) == ("nutrient", "accepted")
    assert str(job) in (await client.get(f"/jobs/{job}", params={"f": "html"})).text


async def test_jobs_are_paged_by_links_and_every_job_is_listed_once(
    client: httpx.AsyncClient, database: Database
) -> None:
    wanted = {
        str(database.execute("select switchyard.submit('run', workflow => 'nutrient')")[0][0])
        for _ in range(7)
    }
    found: list[str] = []
    href: str | None = "/jobs?limit=3"
    while href is not None:
        page = (await client.get(href)).json()
        found += [each["jobID"] for each in page["jobs"]]
        href = next((link["href"] for link in page["links"] if link["rel"] == "next"), None)
    assert found == sorted(wanted, reverse=True)


@pytest.mark.parametrize("accept", ["text/html", "application/json", "*/*"])
async def test_what_is_not_there_is_a_problem_document(client: httpx.AsyncClient, accept: str) -> None:
    answer = await client.get("/jobs/00000000-0000-7000-8000-000000000000", headers={"Accept": accept})
    assert answer.status_code == 404
    if accept == "text/html":
        assert "there is no job" in answer.text
    else:
        kind = "application/json" if accept == "application/json" else "application/problem+json"
        assert answer.headers["content-type"] == kind
        assert answer.json()["type"].endswith("/no-such-job")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/jobs/00000000-0000-7000-8000-000000000000", 404),
        ("GET", "/nowhere", 404),
        ("DELETE", "/queues", 405),
        ("GET", "/jobs?limit=x", 400),
        ("POST", "/queues/run/pause", 415),
        ("GET", "/schedules/x/pause", 403),
        ("GET", "/api", 200),
    ],
)
async def test_the_page_of_an_error_has_the_navigation_of_the_caller(
    connect: Connect, token: Token, method: str, path: str, status: int
) -> None:
    client = await connect(access={})
    page = {"Accept": "text/html"}
    answer = await client.request(method, path, headers={**page, **token("operator", "olga")})
    assert answer.status_code == status
    assert "<b>token:olga</b>" in answer.text
    assert 'href="/inbox"' in answer.text
    refused = await client.request(method, path, headers={**page, "Authorization": "Bearer sy_guessed"})
    assert refused.status_code == (status if path in ("/nowhere", "/api") or status == 405 else 401)
    assert 'href="/inbox"' not in refused.text
    assert 'class="me"' not in refused.text


async def test_without_access_configured_nobody_may_call(connect: Connect) -> None:
    client = await connect(access={})
    for path in PAGES:
        assert (await client.get(path)).status_code == 401


async def test_anonymous_access_answers_on_loopback_names_only(client: httpx.AsyncClient) -> None:
    answer = await client.get("/jobs", headers={"Host": "rebound.example"})
    assert answer.status_code == 403


async def test_every_path_has_the_base_path_in_front(connect: Connect) -> None:
    client = await connect(base_path="/switchyard")
    assert (await client.get("/jobs")).status_code == 404
    answer = (await client.get("/switchyard/jobs")).json()
    assert answer["links"][0]["href"].endswith("/switchyard/jobs")


async def test_a_form_pauses_a_queue_and_leads_back_to_its_page(
    client: httpx.AsyncClient, database: Database
) -> None:
    answer = await client.post("/queues/run/pause", data={"reason": "the partner is down"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/queues")
    assert database.execute("select actor, reason from switchyard.paused") == [
        ("anonymous", "the partner is down")
    ]
    assert (await client.post("/queues/run/resume", json={"reason": "it is back"})).json() == {
        "changed": True
    }
    assert (await client.post("/queues/run/resume", json={})).status_code == 422
