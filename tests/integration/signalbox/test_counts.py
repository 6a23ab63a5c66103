"""The counts in the navigation: the same as the inbox and the campaigns have, and nothing for submitters."""

import json
import re

import httpx

from signalbox.access.roles import Caller, Role
from signalbox.counts import shown
from signalbox.live.poller import Page
from signalbox.live.regions import read_regions
from tests.integration.signalbox.conftest import Connect, Jobs, Token
from tests.parts.database import Database

PAGE = {"Accept": "text/html"}
COUNT = re.compile(r'href="(/\w+)"[^>]*>\w+ <span class="count[^"]*">([\d+]+)<')
STALE = "update switchyard.tally set at = at - interval '2 hours' returning 1"


def trouble(database: Database, jobs: Jobs) -> None:
    """Two failures, a message nobody could read, a name that nobody serves, and two open campaigns of which one is stuck."""
    for _ in range(2):
        jobs.report(jobs.submit(scene="a"), "FAILED", "exit code 4")
    database.execute(
        "insert into switchyard.journal (kind, subject, needs_review) values ('unreadable', 'q', true) returning 1"
    )
    old = "select switchyard.uuid7(now() - interval '10 minutes')"
    database.execute(
        f"insert into switchyard.action (action_uuid, action_name) values (({old}), 'nobody-here') returning 1"
    )
    for name in ("stuck", "spring", "over"):
        [[uuid]] = database.execute(
            "select switchyard.start_campaign(%s, '{}', 10, workflow => 'plain')", name
        )
        database.execute(
            "select switchyard.feed(%s, '{}', %s, '{}', %s)",
            *(uuid, json.dumps([{"id": "1", "parameters": {}}]), name == "over"),
        )
        if name == "over":
            database.execute("select switchyard.cancel(%s, 'ops', 'not now')", uuid)
        if name == "stuck":
            old = "now() - interval '2 hours'"
            database.execute(f"update switchyard.tally set at = {old} where set_uuid = %s", uuid)
            database.execute(f"update switchyard.thread set last_update = {old} where action_uuid = %s", uuid)


async def test_they_are_what_the_pages_show(
    client: httpx.AsyncClient, database: Database, jobs: Jobs
) -> None:
    assert COUNT.findall((await client.get("/jobs", headers=PAGE)).text) == []
    trouble(database, jobs)
    client.site.counts.clear()  # type: ignore[attr-defined]
    entries = (await client.get("/inbox")).json()["entries"]
    assert {entry["kind"] for entry in entries} == {"thread", "unreadable", "unserved", "campaign_stuck"}
    for path in ("/jobs", "/inbox", "/", "/processes/plain"):
        page = (await client.get(path, headers=PAGE)).text
        assert COUNT.findall(page) == [("/inbox", str(len(entries))), ("/campaigns", "2")], path


async def test_they_are_read_once_for_many_pages_and_again_after_a_decision(
    client: httpx.AsyncClient, database: Database, jobs: Jobs
) -> None:
    job = jobs.submit(scene="a")
    await client.get("/jobs", headers=PAGE)
    jobs.report(job, "FAILED", "exit code 4")
    assert COUNT.findall((await client.get("/jobs", headers=PAGE)).text) == []
    await client.post("/queues/run/pause", data={"reason": "the partner is down"})
    assert COUNT.findall((await client.get("/jobs", headers=PAGE)).text) == [("/inbox", "1")]


async def test_a_submitter_has_none(connect: Connect, token: Token, database: Database, jobs: Jobs) -> None:
    trouble(database, jobs)
    client = await connect(access={})
    for role, expected in (("reader", 2), ("operator", 2), ("submitter", 0)):
        page = (await client.get("/jobs", headers={**token(role), **PAGE})).text
        assert len(COUNT.findall(page)) == expected, role


async def test_the_navigation_is_live(client: httpx.AsyncClient, database: Database, jobs: Jobs) -> None:
    trouble(database, jobs)
    page = Page("/queues", "", Caller("rita", Role.READER))
    regions = await read_regions(client.site, page)  # type: ignore[attr-defined]
    assert regions["pages"].lstrip().startswith('<ul id="pages">')
    assert 'href="/queues" aria-current="page"' in regions["pages"]
    assert len(COUNT.findall(regions["pages"])) == 2


def test_no_more_is_shown_than_was_counted() -> None:
    assert [shown(count) for count in (1, 999, 1000, 2000)] == ["1", "999", "999+", "999+"]
