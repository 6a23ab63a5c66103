"""Synchronous execution, where a workflow allows it: the answer is the results, or the job where that takes too long."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from signalbox.sync import seconds_to_wait
from tests.integration.signalbox.conftest import ABOUT, Jobs
from tests.waiting import eventually

EXECUTION = "/processes/nutrient/execution"
EXECUTE = {"inputs": {"scene": "S2A"}}
OUTPUT = {"summary": {"sites": 2}, "sites": [1, 2]}


@pytest.fixture(autouse=True)
def waits(jobs: Jobs) -> None:
    """The process `nutrient` lets requests wait for 20 s."""
    about = json.dumps({**ABOUT, "sync": 20.0})
    jobs.database.execute(
        "update switchyard.route set about = %s where workflow = 'nutrient' returning 1", about
    )


async def first_job(jobs: Jobs) -> str:
    """The open job, as soon as there is one."""
    rows = await eventually(lambda: jobs.database.execute("select action_uuid from switchyard.yard"))
    return str(rows[0][0])


@asynccontextmanager
async def worked(jobs: Jobs, status: str, error: str | None = None) -> AsyncIterator[None]:
    """Ends the job as soon as there is one."""

    async def work() -> None:
        job = await first_job(jobs)
        if status == "SUCCESSFUL":
            jobs.succeed(job, OUTPUT)
        else:
            jobs.report(job, status, error)

    task = asyncio.create_task(work())
    yield
    await task


async def test_req_core_process_execute_sync_document(client: httpx.AsyncClient, jobs: Jobs) -> None:
    async with worked(jobs, "SUCCESSFUL"):
        answer = await client.post(EXECUTION, json={**EXECUTE, "response": "document"})
    assert answer.status_code == 200, answer.text
    assert answer.json()["sites"] == [1, 2]
    assert answer.json()["summary"]["value"] == {"sites": 2}
    ((job,),) = jobs.database.execute("select action_uuid from switchyard.action")
    assert answer.headers["link"] == f'<http://127.0.0.1/jobs/{job}>; rel="monitor"'
    results = await client.get(f"/jobs/{job}/results")
    assert results.json() == answer.json()


async def test_req_core_process_execute_sync_raw_value_one(client: httpx.AsyncClient, jobs: Jobs) -> None:
    async with worked(jobs, "SUCCESSFUL"):
        answer = await client.post(EXECUTION, json={**EXECUTE, "response": "raw", "outputs": {"sites": {}}})
    assert (answer.status_code, answer.json()) == (200, [1, 2])


async def test_req_core_process_execute_sync_raw_ref(client: httpx.AsyncClient, jobs: Jobs) -> None:
    outputs = {"sites": {"transmissionMode": "reference"}}
    async with worked(jobs, "SUCCESSFUL"):
        answer = await client.post(EXECUTION, json={**EXECUTE, "response": "raw", "outputs": outputs})
    assert (answer.status_code, answer.content) == (204, b"")
    assert 'rel="sites"' in answer.headers["link"]


@pytest.mark.parametrize("how", ["value", "reference"])
async def test_req_core_process_execute_sync_raw_value_multi(
    client: httpx.AsyncClient, jobs: Jobs, how: str
) -> None:
    """And /req/core/process-execute-sync-raw-mixed-multi, where one of them is by reference."""
    outputs = {"summary": {}, "sites": {"transmissionMode": how}}
    async with worked(jobs, "SUCCESSFUL"):
        answer = await client.post(EXECUTION, json={**EXECUTE, "response": "raw", "outputs": outputs})
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("multipart/related")
    assert ("[1, 2]" in answer.text, "Content-Location: " in answer.text) == (how == "value", how != "value")


async def test_a_job_that_fails_is_answered_by_its_error(client: httpx.AsyncClient, jobs: Jobs) -> None:
    async with worked(jobs, "FAILED", "exit code 4: no overlap"):
        answer = await client.post(EXECUTION, json=EXECUTE)
    assert answer.status_code == 422
    assert answer.json()["detail"] == "exit code 4: no overlap"
    assert answer.json()["type"].endswith("/job-results-failed")


@pytest.mark.parametrize("prefer", ["respond-async", "wait=0", "respond-async, wait=0"])
async def test_req_core_process_execute_auto_execution_mode(
    client: httpx.AsyncClient, jobs: Jobs, prefer: str
) -> None:
    """A client that prefers it is answered at once."""
    answer = await client.post(EXECUTION, json=EXECUTE, headers={"Prefer": prefer})
    assert (answer.status_code, answer.json()["status"]) == (201, "accepted")


async def test_one_that_takes_longer_is_answered_by_its_job(client: httpx.AsyncClient, jobs: Jobs) -> None:
    began = time.monotonic()
    answer = await client.post(EXECUTION, json=EXECUTE, headers={"Prefer": "wait=1"})
    assert time.monotonic() - began >= 1
    assert (answer.status_code, answer.json()["status"]) == (201, "accepted")
    assert answer.headers["location"].endswith(answer.json()["jobID"])


async def test_a_form_is_sent_on_to_its_job_at_once(client: httpx.AsyncClient, jobs: Jobs) -> None:
    answer = await client.post(EXECUTION, data={"inputs": json.dumps(EXECUTE["inputs"])})
    assert answer.status_code == 303


async def test_the_description_says_that_it_can_be_synchronous(client: httpx.AsyncClient, jobs: Jobs) -> None:
    for process, options in (
        ("nutrient", ["sync-execute", "async-execute", "dismiss"]),
        ("plain", ["async-execute", "dismiss"]),
    ):
        assert (await client.get(f"/processes/{process}")).json()["jobControlOptions"] == options


async def test_requests_do_not_wait_while_the_program_ends(client: httpx.AsyncClient, jobs: Jobs) -> None:
    sent = asyncio.create_task(client.post(EXECUTION, json=EXECUTE))
    await first_job(jobs)
    client.site.live.close()  # type: ignore[attr-defined]
    assert (await sent).status_code == 201


async def test_only_so_many_requests_wait(
    client: httpx.AsyncClient, jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("signalbox.sync.MOST", 0)
    assert (await client.post(EXECUTION, json=EXECUTE)).status_code == 201
    assert client.site.waiting == 0  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("prefer", "allowed", "seconds"),
    [
        ("", None, 0), ("wait=5", None, 0), ("", 20.0, 20), ("respond-async", 20.0, 0), ("wait=5", 20.0, 5),
        ("respond-async, wait=5", 20.0, 5), ("wait=500", 20.0, 20), ('wait="7"', 20.0, 7), ("handling=lenient", 20.0, 20),
        ("wait=-1", 20.0, 20), ("await=3", 20.0, 20), ("wait=99999999999999", 20.0, 20),
    ],
)  # fmt: skip
def test_how_long_a_request_waits(prefer: str, allowed: Any, seconds: float) -> None:
    assert seconds_to_wait(prefer, allowed) == seconds
