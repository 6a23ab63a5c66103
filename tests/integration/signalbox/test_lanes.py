"""Lanes as JSON and on the page of queues."""

import json

import httpx

from tests.integration.signalbox.conftest import Jobs


async def test_lanes_show_what_is_open_and_what_holds_it_back(client: httpx.AsyncClient, jobs: Jobs) -> None:
    assert (await client.get("/lanes")).json() == {"lanes": [], "more": False}
    flow = {"flow": "hook", "action_name": "hook", "lane_in_flight": 2}
    jobs.database.execute("select switchyard.announce_flows(%s)", json.dumps([flow]))
    jobs.database.execute("select switchyard.submit('hook', lane => 'north') from generate_series(1, 3)")
    jobs.database.execute("select switchyard.lane_claim('hook', 10, '{}', '{}', '{}')")
    [lane] = (await client.get("/lanes")).json()["lanes"]
    shown = {key: lane[key] for key in ("action_name", "lane", "open", "in_flight", "max_in_flight", "state")}
    assert shown == {
        "action_name": "hook", "lane": "north", "open": 3, "in_flight": 2, "max_in_flight": 2, "state": "full",
    }  # fmt: skip
    page = (await client.get("/queues?f=html")).text
    assert '<a href="/jobs?lane=north">north</a>' in page
    assert '<span class="state" data-s="limit">At its limit</span>' in page
