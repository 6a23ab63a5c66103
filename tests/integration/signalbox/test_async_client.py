"""The asynchronous client: the verbs of the Python API, against a real signalbox."""

import httpx
import pytest

from switchyard.errors import BadInput, WaitTimeout
from switchyard.remote import AsyncClient
from switchyard.remote.calls import headers
from switchyard.submit.submission import Submission
from tests.integration.signalbox.conftest import Jobs


async def test_a_job_is_submitted_followed_and_read(client: httpx.AsyncClient, jobs: Jobs) -> None:
    client.headers.update(headers(None))
    yard = AsyncClient(client)
    job = await yard.submit("nutrient", {"scene": "S2A"}, idempotency_key="1", tags=["a"])
    assert await yard.submit("nutrient", {"scene": "S2A"}, idempotency_key="1", tags=["a"]) == job
    assert [each.id for each in await yard.list(tag="a")] == [job]
    assert "No conductor serves" in await yard.why(job)
    with pytest.raises(WaitTimeout, match="accepted after"):
        await yard.wait(job, timeout=0.01)
    jobs.succeed(str(job), {"summary": {"n": 3}, "sites": [1]})
    assert (await yard.wait(job, timeout=60)).status == "successful"
    assert (await yard.results(job))["sites"] == [1]
    assert (await yard.events(job))[-1]["status"] == "SUCCESSFUL"
    assert not await yard.cancel(job, reason="too late")


async def test_jobs_are_canceled_and_retriggered(client: httpx.AsyncClient, jobs: Jobs) -> None:
    yard = AsyncClient(client)
    first, second = await yard.submit_many(
        [Submission(workflow="plain", parameters={"n": n}) for n in (1, 2)]
    )
    assert await yard.cancel(first, reason="not needed")
    assert (await yard.status(first)).status == "dismissed"
    jobs.report(str(second), "FAILED", "the scene is empty")
    jobs.database.execute("select switchyard.callbacks_made(%s, 1)", second)
    assert await yard.retrigger(second, reason="it is there now", resume_from="start") == 2
    assert (await yard.post("/queues/run/pause", {"reason": "x"})) == {"changed": True}
    assert [each["name"] for each in (await yard.get("/queues"))["queues"]] == ["run"]


async def test_what_the_server_refuses_is_an_error_with_its_reason(
    client: httpx.AsyncClient, jobs: Jobs
) -> None:
    with pytest.raises(BadInput, match="/inputs/scene"):
        await AsyncClient(client).submit("nutrient", {"scene": 7})
