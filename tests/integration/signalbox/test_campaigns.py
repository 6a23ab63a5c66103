"""Campaigns over HTTP: progress, causes, decisions, and who may make them."""

import json
import re
from html import unescape
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.integration.signalbox.conftest import Connect, Jobs, Token

ODD = "s/p\u00e4t & <b>?"
REASON = {"reason": "the disk is larger now"}


class Campaigns:
    """Campaigns of the process `plain`."""

    def __init__(self, jobs: Jobs) -> None:
        self.jobs, self.database = jobs, jobs.database

    def start(self, name: str, items: int, last: bool = True) -> list[str]:
        """A campaign whose items are all submitted; their jobs."""
        source = json.dumps({"file": "scenes.jsonl"})
        start = "select switchyard.start_campaign(%s, %s, 1000, workflow => 'plain')"
        ((campaign,),) = self.database.execute(start, name, source)
        page = [{"id": f"i{number:04}", "parameters": {"n": number}} for number in range(items)]
        feed = "select switchyard.feed(%s, '{}', %s, '{\"at\": 1}', %s)"
        self.database.execute(feed, campaign, json.dumps(page), last)
        self.database.execute("select * from switchyard.submit_items(1000)")
        members = "select action_uuid from switchyard.action where member_of = %s order by 1"
        return [str(uuid) for (uuid,) in self.database.execute(members, campaign)]

    def fail(self, jobs: list[str], error: str) -> None:
        for job in jobs:
            self.jobs.report(job, "FAILED", error)
            self.database.execute("select switchyard.callbacks_made(%s, 1)", job)


@pytest.fixture
def campaigns(jobs: Jobs) -> Campaigns:
    return Campaigns(jobs)


def at(name: str, verb: str = "") -> str:
    return f"/campaigns/{quote(name, safe='')}{verb}"


async def one(client: httpx.AsyncClient, name: str) -> dict[str, Any]:
    answer = await client.get(at(name))
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


@pytest.mark.parametrize("name", ["spring", ODD])
async def test_a_campaign_is_shown_with_its_progress_and_causes(
    client: httpx.AsyncClient, campaigns: Campaigns, name: str
) -> None:
    members = campaigns.start(name, 10)
    campaigns.fail(members[:3], "exit code 4: no overlap")
    for job in members[3:5]:
        campaigns.jobs.report(job, "SUCCESSFUL")
    found = await one(client, name)
    assert (found["items"], found["open"], found["successful"], found["unsuccessful"]) == (10, 5, 2, 3)
    assert [each["name"] for each in (await client.get("/campaigns")).json()["campaigns"]] == [name]
    (cause,) = (await client.get(at(name, "/failures"))).json()["failures"]
    assert (cause["failures"], cause["example"] in members[:3]) == (3, True)
    for path in ("/campaigns", at(name), *(at(name, f"/{verb}") for verb in VERBS)):
        page = await client.get(path, headers={"Accept": "text/html"})
        assert page.status_code == 200, page.text
        assert "<b>?" not in page.text


VERBS = ("pause", "resume", "cancel", "retrigger")


async def test_a_campaign_is_paused_resumed_and_canceled_with_a_reason(
    client: httpx.AsyncClient, campaigns: Campaigns
) -> None:
    campaigns.start(ODD, 2)
    answer = await client.post(at(ODD, "/pause"), data=REASON)
    assert (answer.status_code, answer.headers["location"]) == (303, at(ODD))
    found = await one(client, ODD)
    assert (found["paused_by"], found["paused_because"]) == ("anonymous", REASON["reason"])
    assert (await client.post(at(ODD, "/pause"), json=REASON)).json() == {"changed": False}
    assert (await client.post(at(ODD, "/resume"), json=REASON)).json() == {"changed": True}
    assert (await client.post(at(ODD, "/cancel"), json=REASON)).json() == {"changed": True}
    assert (await one(client, ODD))["status"] == "CANCELED"


async def test_failures_are_retriggered_if_they_are_as_many_as_expected(
    client: httpx.AsyncClient, campaigns: Campaigns, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In more than one group."""
    monkeypatch.setattr("signalbox.routes.campaigns.GROUP", 3)
    members = campaigns.start("spring", 9)
    campaigns.fail(members[:7], "exit code 4: no overlap")
    refused = await client.post(at("spring", "/retrigger"), json={**REASON, "expected": 6})
    assert (refused.status_code, refused.json()["errors"]) == (409, [{"expected": 6, "matched": 7}])
    assert (await one(client, "spring"))["unsuccessful"] == 7
    done = await client.post(at("spring", "/retrigger"), json={**REASON, "expected": 7})
    assert done.json() == {"retriggered": 7}
    found = await one(client, "spring")
    assert (found["unsuccessful"], found["open"]) == (0, 9)


async def test_the_failures_of_one_cause_are_retriggered(
    client: httpx.AsyncClient, campaigns: Campaigns, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("signalbox.routes.campaigns.GROUP", 2)
    members = campaigns.start(ODD, 8)
    campaigns.fail(members[:5], "no overlap with <i>the area</i>")
    campaigns.fail(members[5:7], "the disk is full")
    page = (await client.get(at(ODD), headers={"Accept": "text/html"})).text
    (link,) = [each for each in re.findall(r'href="([^"]*)"', page) if "overlap" in each]
    confirm = (await client.get(unescape(link), headers={"Accept": "text/html"})).text
    assert "Retrigger 5</button>" in confirm
    assert "<i>" not in confirm
    causes = (await client.get(at(ODD, "/failures"))).json()["failures"]
    body = {**REASON, "cause": causes[0]["cause"], "expected": 7}
    refused = await client.post(at(ODD, "/retrigger"), json=body)
    assert (refused.status_code, refused.json()["errors"]) == (409, [{"expected": 7, "matched": 5}])
    answer = await client.post(at(ODD, "/retrigger"), data={**body, "expected": 5})
    assert (answer.status_code, answer.headers["location"]) == (303, at(ODD))
    found = await one(client, ODD)
    assert (found["unsuccessful"], found["open"]) == (2, 6)
    left = (await client.get(at(ODD, "/failures"))).json()["failures"]
    assert [(each["cause"], each["failures"]) for each in left] == [("the disk is full", 2)]
    nothing = await client.get(at(ODD, f"/retrigger?cause={quote(body['cause'])}&f=html"))
    assert "Nothing matches any more" in nothing.text


async def test_there_is_no_such_campaign(client: httpx.AsyncClient, jobs: Jobs) -> None:
    for verb in VERBS:
        assert (await client.get(at("x", f"/{verb}"))).status_code == 404
        body = {**REASON, "expected": 0} if verb == "retrigger" else REASON
        assert (await client.post(at("x", f"/{verb}"), json=body)).status_code == 404
    assert (await client.get(at("x"))).status_code == 404
    assert (await client.get(at("x", "/failures"))).status_code == 404


async def test_readers_look_and_operators_decide(
    connect: Connect, token: Token, campaigns: Campaigns
) -> None:
    client = await connect(access={})
    campaigns.start("spring", 1)
    for role, sees, may in (("submitter", 403, 403), ("reader", 200, 403), ("operator", 200, 200)):
        headers = token(role)
        assert (await client.get(at("spring"), headers=headers)).status_code == sees
        answer = await client.post(at("spring", "/pause"), json=REASON, headers=headers)
        assert answer.status_code == may, (role, answer.text)
