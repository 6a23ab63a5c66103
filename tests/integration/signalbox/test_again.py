"""What recent jobs of a process took, and a job again with changes."""

import json
import re
from html import unescape

import httpx
import pytest

from signalbox.recent import MOST, Recent
from tests.integration.signalbox.conftest import Connect, Jobs, Token

PAGE = {"Accept": "text/html"}


def took(jobs: Jobs, seconds: int) -> str:
    """A job that succeeded after so long."""
    job = jobs.submit(scene="a")
    jobs.report(job, "RUNNING")
    jobs.succeed(job, {})
    jobs.database.execute(
        "update switchyard.thread set started_at = ended_at - make_interval(secs => %s) where action_uuid = %s",
        seconds, job,
    )  # fmt: skip
    return job


async def test_a_job_page_says_how_long_its_process_usually_takes(
    client: httpx.AsyncClient, jobs: Jobs
) -> None:
    made = [took(jobs, seconds) for seconds in range(10, 50)]
    found = (await client.get(f"/jobs/{made[0]}/usual")).json()
    assert 10 <= found["low_seconds"] <= 16
    assert 44 <= found["high_seconds"] <= 49
    page = (await client.get(f"/jobs/{made[0]}", headers=PAGE)).text
    assert re.search(r"Usually takes</dt><dd>1\d s to 4\d s", page)
    other = jobs.submit("plain")
    assert (await client.get(f"/jobs/{other}/usual")).json() == {}
    assert "Usually takes" not in (await client.get(f"/jobs/{other}", headers=PAGE)).text


async def test_durations_are_read_once_a_minute_per_process(client: httpx.AsyncClient, jobs: Jobs) -> None:
    made = [took(jobs, 10) for _ in range(10)]
    before = (await client.get(f"/jobs/{made[0]}/usual")).json()
    for _ in range(20):
        took(jobs, 900)
    assert (await client.get(f"/jobs/{made[1]}/usual")).json() == before
    client.site.usual.clear()  # type: ignore[attr-defined]
    assert (await client.get(f"/jobs/{made[1]}/usual")).json() != before


async def test_a_submitter_sees_neither_for_the_job_of_another(
    connect: Connect, token: Token, jobs: Jobs
) -> None:
    job = jobs.submit(scene="secret")
    client = await connect(access={})
    for path in ("usual", "again"):
        answer = await client.get(f"/jobs/{job}/{path}", headers={**token("submitter", path), **PAGE})
        assert answer.status_code == 404
        assert "secret" not in answer.text
    assert (await client.get(f"/jobs/{job}/again", headers=token("reader"))).status_code == 403
    page = await client.get(f"/jobs/{job}", headers={**token("reader", "rita"), **PAGE})
    assert "Run again with changes" not in page.text


async def test_the_form_has_the_inputs_and_the_options_of_the_job(
    client: httpx.AsyncClient, jobs: Jobs
) -> None:
    inputs = {"scene": "</textarea><u>", "edition": 3}
    asked = {"inputs": inputs, "switchyard": {"lane": "<north>", "priority": 7, "correlation_id": "r & d"}}
    job = (await client.post("/processes/nutrient/execution", json=asked)).json()["id"]
    page = (await client.get(f"/jobs/{job}/again", headers=PAGE)).text
    assert "<u>" not in page
    (text,) = re.findall(r"<textarea[^>]*>(.*?)</textarea>", page, re.DOTALL)
    assert json.loads(unescape(text)) == inputs
    fields = {
        name: unescape(value) for name, value in re.findall(r'name="(switchyard.\w+)" value="(.*?)"', page)
    }
    fields.pop("switchyard.no_cache")
    form = {**fields, "inputs": unescape(text).replace("3", "4")}
    answer = await client.post("/processes/nutrient/execution", data=form)
    assert answer.status_code == 303, answer.text
    made = (await client.get(answer.headers["location"])).json()
    assert {name: made["switchyard"][name] for name in asked["switchyard"]} == asked["switchyard"]
    assert (await client.get(f"{answer.headers['location']}/inputs")).json()["inputs"]["edition"] == 4


async def test_a_job_of_a_process_that_is_gone_cannot_run_again(
    client: httpx.AsyncClient, jobs: Jobs
) -> None:
    job = jobs.submit()
    jobs.database.execute("delete from switchyard.route where workflow = 'nutrient' returning 1")
    answer = await client.get(f"/jobs/{job}/again")
    assert (answer.status_code, answer.json()["detail"]) == (404, "there is no process 'nutrient'")


@pytest.mark.parametrize("count", [3, MOST + 5])
async def test_what_was_read_is_read_again_when_it_is_old(count: int) -> None:
    now, reads = 0.0, []

    async def read() -> int:
        reads.append(now)
        return len(reads)

    recent: Recent[int] = Recent(60, lambda: now)
    for key in range(count):
        await recent.get(key, read)
    assert await recent.get(count - 1, read) == count
    now = 59.0
    assert await recent.get(count - 1, read) == count
    now = 60.0
    assert await recent.get(count - 1, read) == count + 1
    now = 61.0
    before = len(reads)
    await recent.get(0, read)
    assert len(reads) == before + 1
