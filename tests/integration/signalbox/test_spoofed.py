"""Headers that name another caller, address, method or path than the request has are not believed."""

from typing import Any

from signalbox.access.failures import MOST
from tests.integration.signalbox.conftest import Connect, Jobs, Token

NAMES = {
    "X-Forwarded-User": "root",
    "X-Forwarded-Groups": "ops, admin",
    "X-Remote-User": "root",
    "Remote-User": "root",
    "X-Forwarded-For": "127.0.0.1",
    "X-Real-IP": "127.0.0.1",
    "Forwarded": "for=127.0.0.1;host=localhost;proto=https",
    "X-Original-URL": "/queues",
    "X-Rewrite-URL": "/queues",
    "X-HTTP-Method-Override": "DELETE",
}
PROXY: dict[str, Any] = {"networks": ["127.0.0.0/8"], "roles": {"ops": "operator"}}


async def test_without_a_trusted_proxy_no_header_names_a_caller(
    connect: Connect, token: Token, jobs: Jobs
) -> None:
    client = await connect(access={})
    job = jobs.submit()
    assert (await client.get("/jobs", headers=NAMES)).status_code == 401
    ann = {**token("submitter", "ann"), **NAMES}
    made = (await client.post("/processes/plain/execution", json={}, headers=ann)).json()
    assert made["switchyard"]["submitted_by"] == "token:ann"
    assert [each["jobID"] for each in (await client.get("/jobs", headers=ann)).json()["jobs"]] == [made["id"]]
    assert (await client.get("/queues", headers=ann)).status_code == 403
    assert (await client.get(f"/jobs/{job}", headers=ann)).status_code == 404
    assert jobs.database.execute("select count(*) from switchyard.yard") == [(2,)], "nothing was deleted"


async def test_a_token_counts_before_what_the_proxy_says(connect: Connect, token: Token, jobs: Jobs) -> None:
    client = await connect(access={"proxy": PROXY})
    headers = {**token("reader"), "X-Forwarded-User": "ann", "X-Forwarded-Groups": "ops"}
    answer = await client.post("/queues/run/pause", json={"reason": "x"}, headers=headers)
    assert answer.status_code == 403
    assert jobs.database.execute("select count(*) from switchyard.paused") == [(0,)]


async def test_nobody_guesses_tokens_from_many_addresses_that_a_header_names(connect: Connect) -> None:
    """Without a trusted proxy the connection's address counts; behind one, the last that the proxy reports."""
    for access, header in (({}, "10.0.0.{}"), ({"proxy": PROXY}, "10.0.0.{}, 192.0.2.1")):
        client = await connect(access=access)
        answers = [
            await client.get(
                "/jobs",
                headers={"Authorization": "Bearer sb_guessed", "X-Forwarded-For": header.format(number)},
            )
            for number in range(MOST + 1)
        ]
        assert [each.status_code for each in answers] == [401] * MOST + [429]


async def test_links_lead_to_the_configured_address_whatever_the_host_header_says(
    connect: Connect, token: Token, jobs: Jobs
) -> None:
    client = await connect(access={}, public_url="https://jobs.example")
    headers = {**token("submitter"), "Host": "evil.example", "X-Forwarded-Host": "evil.example"}
    made = await client.post("/processes/plain/execution", json={}, headers=headers)
    assert made.headers["location"].startswith("https://jobs.example/jobs/")
    assert "evil.example" not in made.text
