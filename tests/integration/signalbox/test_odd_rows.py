"""Odd rows by plain SQL break no page: not that of a list which they are in, nor their own."""

from urllib.parse import quote

import httpx

from tests.integration.signalbox.conftest import Jobs
from tests.odd_rows import NAMES, write_odd_rows

LISTS = (
    "/", "/jobs?limit=1000", "/jobs?status=accepted,running&limit=1000", "/jobs?status=failed", "/jobs?minDuration=1", "/inbox", "/causes",
    "/actions?limit=1000", "/queues", "/workers", "/lanes", "/journal?limit=1000", "/processes?limit=1000", "/schedules", "/metrics",
)  # fmt: skip
OF_A_JOB = ("", "/why", "/events", "/family", "/inputs", "/prov", "/archive")


async def test_odd_rows_break_no_page(client: httpx.AsyncClient, jobs: Jobs) -> None:
    uuids = write_odd_rows(jobs.database)
    assert len(uuids) > 50, "most is odd without being refused"
    broken = []

    async def look(path: str, form: str) -> None:
        answer = await client.get(path, params={**httpx.URL(path).params, "f": form})
        if answer.status_code not in (200, 404):
            broken.append((path, form, answer.status_code, answer.text[:300]))

    processes = [name for (name,) in jobs.database.execute("select workflow from switchyard.route")]
    pages = [f"/processes/{quote(name, safe='')}" for name in processes]
    pages += [f"/queues/{quote(name, safe='')}/resume" for name in NAMES]
    for path in (*LISTS, *pages, *(f"/jobs/{uuid}" for uuid in uuids)):
        await look(path, "html")
    for path in (*LISTS, *pages, *(f"/jobs/{uuid}{part}" for uuid in uuids for part in OF_A_JOB)):
        await look(path, "json")
    assert broken == []
