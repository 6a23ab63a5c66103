"""OGC API Processes 1.0: results as a request asked for them, and as they are for a job without success."""

from email import message_from_bytes
from typing import Any

import httpx
import pytest

from tests.integration.signalbox.conftest import Jobs

KIND = "http://www.opengis.net/def/exceptions/ogcapi-processes-1/1.0/"
EXCEPTIONS = "http://www.opengis.net/def/rel/ogc/1.0/exceptions"
OUTPUT = {"summary": {"n": 3}, "sites": [1, 2]}
REFERENCE = {"transmissionMode": "reference"}


async def finished(client: httpx.AsyncClient, jobs: Jobs, **asked: Any) -> str:
    body = {"inputs": {"scene": "S2A"}, **asked}
    job = str((await client.post("/processes/nutrient/execution", json=body)).json()["jobID"])
    jobs.succeed(job, OUTPUT)
    return job


def parts_of(answer: httpx.Response) -> dict[str, Any]:
    """The parts of an answer by their ids, as any reader of MIME sees them."""
    head = f"Content-Type: {answer.headers['content-type']}\r\n\r\n".encode()
    parts = [each for each in message_from_bytes(head + answer.content).walk() if not each.is_multipart()]
    return {part["content-id"]: part for part in parts}


@pytest.mark.parametrize("asked", [{}, {"outputs": {"summary": {}, "sites": {}}}, {"response": "raw"}])
async def test_req_core_process_execute_default_outputs_and_default_response(
    client: httpx.AsyncClient, jobs: Jobs, asked: dict[str, Any]
) -> None:
    """Without `outputs` all of them, without `response` raw."""
    job = await finished(client, jobs, **asked)
    answer = await client.get(f"/jobs/{job}/results")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("multipart/related")
    found = parts_of(answer)
    assert {name: part.get_payload().strip() for name, part in found.items()} == {
        "summary": '{"n": 3}',
        "sites": "[1, 2]",
    }


async def test_who_takes_json_alone_is_sent_the_document(client: httpx.AsyncClient, jobs: Jobs) -> None:
    job = await finished(client, jobs)
    for headers, query in (({"Accept": "application/json"}, {}), ({}, {"f": "json"})):
        answer = await client.get(f"/jobs/{job}/results", headers=headers, params=query)
        assert answer.json() == {
            "summary": {"value": {"n": 3}, "mediaType": "application/json"},
            "sites": [1, 2],
        }
    for accept in ("application/json, */*;q=0.1", "multipart/related, application/json", "*/*"):
        answer = await client.get(f"/jobs/{job}/results", headers={"Accept": accept})
        assert answer.headers["content-type"].startswith("multipart/related")
    raw = await finished(client, jobs, response="raw")
    answer = await client.get(f"/jobs/{raw}/results", headers={"Accept": "application/json"})
    assert answer.headers["content-type"].startswith("multipart/related"), "it was asked for"


async def test_req_core_job_results_async_raw_ref_multi(client: httpx.AsyncClient, jobs: Jobs) -> None:
    job = await finished(client, jobs, response="raw", outputs={"summary": REFERENCE, "sites": REFERENCE})
    answer = await client.get(f"/jobs/{job}/results")
    assert (answer.status_code, answer.content) == (204, b"")
    for name, value in OUTPUT.items():
        place = answer.links[name]["url"]
        assert (await client.get(place)).json() == value


async def test_req_core_job_results_async_raw_mixed_multi(client: httpx.AsyncClient, jobs: Jobs) -> None:
    job = await finished(client, jobs, response="raw", outputs={"summary": {}, "sites": REFERENCE})
    answer = await client.get(f"/jobs/{job}/results")
    assert answer.status_code == 200
    found = parts_of(answer)
    assert found["summary"].get_payload().strip() == '{"n": 3}'
    assert found["sites"].get_payload().strip() == ""
    assert (await client.get(found["sites"]["content-location"])).json() == [1, 2]


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        ("FAILED", 422, "job-results-failed"), ("TIMED_OUT", 422, "job-results-failed"),
        ("CANCELED", 422, "job-results-failed"), ("INVALID", 400, "InvalidParameterValue"),
    ],
)  # fmt: skip
async def test_req_core_job_results_failed_says_why(
    client: httpx.AsyncClient, jobs: Jobs, status: str, code: int, kind: str
) -> None:
    """The code corresponds to the reason; the status of a failed job leads there."""
    job = jobs.submit()
    jobs.report(job, status, "the scene is empty")
    answer = await client.get(f"/jobs/{job}/results")
    assert (answer.status_code, answer.headers["content-type"]) == (code, "application/problem+json")
    assert (answer.json()["type"], answer.json()["detail"]) == (KIND + kind, "the scene is empty")
    links = {each["rel"]: each["href"] for each in (await client.get(f"/jobs/{job}")).json()["links"]}
    assert (EXCEPTIONS in links) is (status != "CANCELED")
    assert links.get(EXCEPTIONS, f"http://127.0.0.1/jobs/{job}/results") == str(answer.url)


async def test_req_core_job_results_exception_no_such_job(client: httpx.AsyncClient) -> None:
    answer = await client.get("/jobs/00000000-0000-7000-8000-000000000000/results")
    assert (answer.status_code, answer.json()["type"]) == (404, KIND + "no-such-job")
